// SPDX-License-Identifier: MIT
// The two plain policies, every n steps and every period of time; and the default policy, declared without its
// definition to keep units light.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"

namespace cairn::inline v0_1 {

/// policies::adaptive, with its default options.
[[nodiscard]] any_policy default_policy();

}  // namespace cairn::inline v0_1

namespace cairn::inline v0_1::policies {

/// Saves at every multiple of `steps`, or at the first step after one where the count jumps. 0: never.
struct every_steps {
  /// Ranks need not agree on the time.
  static constexpr bool uses_steps_alone = true;

  std::uint64_t steps;  ///< between saves

  [[nodiscard]] bool should_save(const moment& now) const noexcept {
    return steps > 0 && now.step / steps > now.saved_step / steps;
  }
};

/// Saves when `period` has passed since the last save, or the beginning of the run. errc::invalid: it is not above 0.
struct every {
  explicit every(std::chrono::duration<double> length) : period(length) {
    if (!cairn::detail::is_positive(period.count()))
      fail(errc::invalid, {"the period of policies::every is ", std::to_string(period.count()), " s, not above 0"});
  }

  std::chrono::duration<double> period;  ///< between saves, above 0

  [[nodiscard]] bool should_save(const moment& now) const noexcept {
    return now.seconds - now.saved_seconds >= period.count() && now.step > now.saved_step;
  }
};

}  // namespace cairn::inline v0_1::policies
