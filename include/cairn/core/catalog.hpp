// SPDX-License-Identifier: MIT
// What a stored checkpoint offers to a load: its leaves and structure, and a function that reads the bytes of a leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/core/structure.hpp"

namespace cairn::inline v0_1::detail {

/// A whole leaf of a checkpoint, however it is cut into slices and spread over shards.
struct stored_leaf {
  std::string path;
  dtype type{};
  extents shape;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return element_count(shape) * size_of(type); }
};

/// The contents of one checkpoint, without its bytes.
struct catalog {
  std::string origin;               ///< the name of its source, for messages
  std::vector<stored_leaf> leaves;  ///< sorted by path; no path occurs twice
  detail::structure structure;
  /// Cairn wrote the checkpoint, so `structure` is complete, even if empty; false: a foreign safetensors file.
  bool has_structure = false;
  /// Reads all bytes of leaf `index`, row-major and verified, into `out` (of exactly its size). Throws cairn::error.
  std::function<void(std::size_t index, std::span<std::byte> out)> fetch;

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// The index of the leaf at `path`, or npos. O(log n).
  [[nodiscard]] std::size_t find(std::string_view path) const noexcept {
    std::size_t begin = 0, end = leaves.size();
    while (begin < end) {
      const auto middle = begin + (end - begin) / 2;
      (leaves[middle].path < path ? begin = middle + 1 : end = middle);
    }
    return begin < leaves.size() && leaves[begin].path == path ? begin : npos;
  }
};

}  // namespace cairn::inline v0_1::detail
