// SPDX-License-Identifier: MIT
// The data sets from a training run.
#include "codecs/data_sets.hpp"

#include <cstring>

#include "cairn/core/float_types.hpp"

namespace bench {

data_set as_fp32(const std::string& prefix, std::span<const parameter> parameters, const parameter_values& values) {
  data_set made;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto& [path, rows, columns] = parameters[p];
    made.leaves.push_back({prefix + "." + path, cairn::dtype::f32, rows, columns, std::as_bytes(std::span(values[p]))});
  }
  return made;
}

data_set as_bf16(const std::string& prefix, std::span<const parameter> parameters, const parameter_values& values) {
  auto made = as_fp32(prefix, parameters, values);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::vector<cairn::bfloat16> rounded(values[p].begin(), values[p].end());
    const auto bytes = std::as_bytes(std::span(rounded));
    made.memory.emplace_back(bytes.begin(), bytes.end());
    made.leaves[p].type = cairn::dtype::bf16;
    made.leaves[p].values = made.memory.back();
  }
  return made;
}

data_set against(data_set newer, const data_set& older) {
  newer.differences = newer.leaves;
  for (std::size_t p = 0; p < newer.leaves.size(); ++p) {
    const auto before = older.leaves[p].values;
    auto& reference = newer.memory.emplace_back(before.begin(), before.end());
    newer.leaves[p].reference = reference;
    std::vector<std::byte> difference(reference);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] ^= newer.leaves[p].values[i];
    newer.differences[p].values = newer.memory.emplace_back(std::move(difference));
  }
  return newer;
}

}  // namespace bench
