// SPDX-License-Identifier: MIT
// What a step of a trainer costs: one that saves nothing, and one that copies the state.
#pragma once

#include <cstddef>

#include "common/report.hpp"
#include "mpi_save/contest.hpp"

namespace bench {

/// mpi_step, mpi_stall and mpi_copied. `steps`: of each loop of mpi_step.
void measure_steps(const world& all, const setting& how, std::size_t steps, report& numbers);

}  // namespace bench
