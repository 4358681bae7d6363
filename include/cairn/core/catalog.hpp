// What a stored checkpoint offers to a load: its leaves and structure, and a function that reads the bytes of a leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/core/structure.hpp"

namespace cairn::detail {

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
  bool has_structure =
      false;  ///< Cairn wrote the checkpoint, so `structure` is complete, even if empty; false: a foreign safetensors file
  /// Reads all bytes of leaf `index`, row-major and verified, into `out` (of exactly its size). Throws
  /// cairn::error.
  std::function<void(std::size_t index, std::span<std::byte> out)> fetch;

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// The index of the leaf at `path`, or npos. O(log n).
  [[nodiscard]] std::size_t find(std::string_view path) const noexcept {
    const auto at = std::lower_bound(leaves.begin(), leaves.end(), path,
                                     [](const stored_leaf& l, std::string_view p) { return l.path < p; });
    return at != leaves.end() && at->path == path ? static_cast<std::size_t>(at - leaves.begin()) : npos;
  }
};

}  // namespace cairn::detail
