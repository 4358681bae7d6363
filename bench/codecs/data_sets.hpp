// SPDX-License-Identifier: MIT
// What is compressed: the arrays of a training run, as they are, as bf16, or as differences to earlier ones.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "codecs/method.hpp"
#include "codecs/trainer.hpp"

namespace bench {

/// Leaves and the memory that they lie in, where that is not the training run's.
struct data_set {
  std::vector<leaf> leaves;
  std::vector<leaf> differences;  ///< the leaves XOR their references, where they have such
  std::vector<std::vector<std::byte>> memory;
};

/// `prefix` begins the paths: "model" or "optimizer.m".
[[nodiscard]] data_set as_fp32(const std::string& prefix, std::span<const parameter> parameters,
                               const parameter_values& values);

/// Rounded to the nearest.
[[nodiscard]] data_set as_bf16(const std::string& prefix, std::span<const parameter> parameters,
                               const parameter_values& values);

/// The leaves of `newer`, those of `older` as their references.
[[nodiscard]] data_set against(data_set newer, const data_set& older);

}  // namespace bench
