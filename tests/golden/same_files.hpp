// SPDX-License-Identifier: MIT
// A checkpoint that is written today has the files of a frozen one.
#pragma once

#include "catch.hpp"
#include "store/sample.hpp"

namespace golden {

inline void check_same_files(const cairn::any_store& written, const cairn::any_store& frozen, std::string_view name) {
  REQUIRE(written.open(name)->files() == frozen.open(name)->files());
  for (const auto& file : frozen.open(name)->files()) {
    INFO(name << "/" << file);
    CHECK(sample::get(written, name, file) == sample::get(frozen, name, file));
  }
}

}  // namespace golden
