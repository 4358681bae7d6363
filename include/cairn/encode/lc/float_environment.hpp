// Floating-point arithmetic as the language has it, whatever mode a program has set.
#pragma once

#include <cfenv>

namespace cairn::detail {

/// While it lives, this thread rounds to nearest, keeps denormals and does not trap; then its old modes and flags come back.
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

}  // namespace cairn::detail
