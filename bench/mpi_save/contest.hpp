// SPDX-License-Identifier: MIT
// Ways of saving in turn, by some of the ranks of the program.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/report.hpp"
#include "mpi_save/world.hpp"
#include "save_load/state.hpp"

namespace bench {

/// How the program measures.
struct setting {
  std::filesystem::path directory;
  dimensions shapes{};
  std::size_t repetitions = 5;
  std::chrono::duration<double> patience{5};  ///< see settle.hpp
};

/// All contests: prints their tables, and adds their figures.
void compare_saves(const world& all, const setting& how, report& numbers);

}  // namespace bench
