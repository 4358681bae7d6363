// What one can choose of the lossy delta codec.
#pragma once

#include <optional>

namespace cairn {

/// Which buckets are kept when there are more than symbols for them.
enum class promotion {
  magnitude,  ///< those of the largest |value|, as published
  energy      ///< those with the most of the delta's squares: count x value^2
};

/// The value that stands for all members of a bucket.
enum class bucket_value {
  midpoint,  ///< (max + min) / 2, as published
  mean
};

/// What has buckets of its own.
enum class bucket_scope {
  per_leaf,
  whole_state  ///< all leaves of a checkpoint share theirs, as published
};

/// See codecs::lc.
struct lc_options {
  promotion priority = promotion::magnitude;
  bucket_value value = bucket_value::midpoint;
  bucket_scope buckets = bucket_scope::per_leaf;
  std::optional<float> floor{};
  std::optional<double> max_error{};
  std::optional<double> max_relative_l2{};
};

}  // namespace cairn
