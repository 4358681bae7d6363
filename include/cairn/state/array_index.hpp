// SPDX-License-Identifier: MIT
// Arrays that have been described already: finds the leaf of one by its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/state/host_buffer.hpp"
#include "cairn/state/position_index.hpp"

namespace cairn::inline v0_1::detail {

class array_index {
 public:
  /// Has memory for `arrays` arrays.
  explicit array_index(std::size_t arrays = 0) : positions_(arrays) { arrays_.reserve(arrays); }

  /// The leaf of the array at `memory`; if it has none, that is `leaf` from now on.
  std::size_t find_or_add(const memory_key& memory, std::size_t leaf) {
    const auto is_same = [&](std::uint32_t i) { return arrays_[i].first == memory; };
    const auto next = static_cast<std::uint32_t>(arrays_.size());
    const auto found = positions_.find_or_add(memory_key::hash{}(memory), next, is_same);
    if (found == next) arrays_.emplace_back(memory, leaf);
    return arrays_[found].second;
  }

 private:
  std::vector<std::pair<memory_key, std::size_t>> arrays_;
  position_index positions_;
};

}  // namespace cairn::inline v0_1::detail
