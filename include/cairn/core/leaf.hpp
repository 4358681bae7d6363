// SPDX-License-Identifier: MIT
// The leaf: one array of a state, as bytes and numbers, without the user's types.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cairn/core/dtype.hpp"

namespace cairn::inline v0_1 {

static_assert(std::endian::native == std::endian::little, "cairn stores memory as it is: little-endian machines only");

/// Elements per dimension, slowest first. A scalar has none.
using extents = std::vector<std::uint64_t>;

/// Number of elements: the product of all dimensions; 1 for a scalar.
[[nodiscard]] inline std::uint64_t element_count(const extents& shape) noexcept {
  std::uint64_t count = 1;
  for (const auto n : shape) count *= n;
  return count;
}

/// Whether a machine can have that many elements of `width` bytes in memory: they have 2^48 bytes or fewer.
[[nodiscard]] inline bool is_addressable(const extents& shape, std::uint64_t width) noexcept {
  std::uint64_t left = (std::uint64_t{1} << 48U) / width;
  for (const auto n : shape) {
    if (n == 0) return true;
    left /= n;
  }
  return left > 0;
}

/// "[2, 3]", for messages.
[[nodiscard]] inline std::string to_string(const extents& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

namespace detail {

/// A view of elements in memory: `shape` elements of `type` at `memory`, row-major when `strides` is empty,
/// else `strides[d]` bytes apart along dimension d.
struct memory_view {
  dtype type{};
  extents shape;
  std::byte* memory = nullptr;
  std::vector<std::int64_t> strides;

  [[nodiscard]] bool contiguous() const noexcept { return strides.empty(); }
  [[nodiscard]] std::uint64_t count() const noexcept { return element_count(shape); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return count() * size_of(type); }
};

/// Where a box lies in a larger array.
struct box_place {
  extents whole;  ///< the shape of that array
  extents first;  ///< the index of the box's first element

  friend bool operator==(const box_place&, const box_place&) = default;
};

/// One array of a state and its path. Valid while the state lives and keeps its sizes.
struct leaf : memory_view {
  std::string path;
  std::shared_ptr<const void> owner;  ///< of `memory`, if that is a copy made for this leaf; else null
  /// Null: the whole array of that path. Else the memory holds a box of it, which is written in one piece; other leaves
  /// of the path hold the rest.
  std::shared_ptr<const box_place> place;
  /// Of the first dimensions, those that count the same records as these of the leaf before: both are columns of them.
  /// 0: it is none, or the first one.
  std::size_t common_dimensions = 0;
};

}  // namespace detail
}  // namespace cairn::inline v0_1
