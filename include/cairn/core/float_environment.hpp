// SPDX-License-Identifier: MIT
// The modes of floating-point arithmetic in which Cairn computes what it stores or loads, whatever the program has set.
#pragma once

#include <cfenv>

namespace cairn::inline v0_1::detail {

/// In its scope this thread rounds to nearest, keeps denormals and does not trap. Then restores modes and flags.
class default_float_environment {
 public:
  default_float_environment() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_float_environment() { std::fesetenv(&before_); }
  default_float_environment(const default_float_environment&) = delete;
  default_float_environment& operator=(const default_float_environment&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace cairn::inline v0_1::detail
