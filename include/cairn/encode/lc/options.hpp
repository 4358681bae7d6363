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

/// The value that stands for all members of a bucket.
enum class bucket_value {
  midpoint,  ///< (max + min) / 2, as published
  mean       ///< not from the paper
};

/// What shares one choice of buckets.
enum class bucket_scope {
  per_leaf,    ///< the elements of a leaf; not from the paper
  whole_state  ///< all leaves of a checkpoint, as published
};

namespace detail::lc {

/// See codecs::lc.
struct options {
  promotion priority = promotion::magnitude;
  bucket_value value = bucket_value::midpoint;
  bucket_scope buckets = bucket_scope::per_leaf;
  std::optional<float> floor{};
  std::optional<double> max_error{};
  std::optional<double> max_relative_l2{};
};

}  // namespace detail::lc
}  // namespace cairn::inline v0_1
