// SPDX-License-Identifier: MIT
// The options of the lossy delta codec.
#pragma once

#include <optional>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// Which buckets get a symbol when there are more buckets than symbols.
enum class promotion {
  magnitude,  ///< those of the largest |value|, as published
  energy      ///< those with most of the delta's sum of squares: count x value^2; not from the paper
};

/// What is quantized: the change of an element from a, which a reader restores from the parent, to the real element u.
enum class delta_kind {
  difference,  ///< u - a, as published
  /// About 2^23 log2(u / a): the difference of the bits of the two floats as integers. A restored element has the sign
  /// of the real one, is at least half and at most twice as large, and is 0 only where the real one is. For second
  /// moments; not from the paper.
  ratio
};

namespace detail::lc {

/// See codecs::lc.
struct options {
  promotion priority = promotion::magnitude;
  delta_kind delta = delta_kind::difference;
  std::optional<double> max_error{};
  std::optional<double> max_delta_l2{};

  [[nodiscard]] bool has_bound() const noexcept { return max_error || max_delta_l2; }
};

}  // namespace detail::lc
}  // namespace cairn::inline v0_1
