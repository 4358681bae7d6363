// SPDX-License-Identifier: MIT
// What writing its share costs a rank, as a function of bytes and pieces.
#pragma once

#include <cstdint>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::plan {

/// Seconds that one rank takes to write: base + per_byte * bytes + per_tensor * tensors. `calibrate` finds them (plan/calibrate.hpp).
struct write_cost {
  double base = 0;        ///< seconds of a write of nothing
  double per_byte = 0;    ///< seconds
  double per_tensor = 0;  ///< seconds

  /// Of a write of `bytes` in `tensors` pieces.
  [[nodiscard]] double seconds(std::uint64_t bytes, std::uint64_t tensors) const noexcept {
    return base + per_byte * static_cast<double>(bytes) + per_tensor * static_cast<double>(tensors);
  }
};

}  // namespace cairn::inline v0_1::plan
