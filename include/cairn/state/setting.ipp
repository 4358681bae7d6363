// SPDX-License-Identifier: MIT
// Definitions of setting.hpp.
#pragma once

#include <charconv>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/state/setting.hpp"

namespace cairn::inline v0_1::detail {

std::string about_replaced(double here, double stored) {
  const auto text = [](double number) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  };
  return sentence({": ", text(here), " in the program, ", text(stored), " in the checkpoint"});
}

}  // namespace cairn::inline v0_1::detail
