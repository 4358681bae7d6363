// SPDX-License-Identifier: MIT
// A box of an array: the elements whose index is, in each dimension, in a range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"

namespace cairn::inline v0_1::detail {

struct box {
  extents first;  ///< the lowest index, by dimension
  extents shape;  ///< the number of indices, by dimension

  [[nodiscard]] std::uint64_t count() const noexcept { return element_count(shape); }
  friend bool operator==(const box&, const box&) = default;
};

/// Whether the box lies in an array of this shape.
[[nodiscard]] inline bool is_inside(const box& part, const extents& shape) noexcept {
  if (part.first.size() != shape.size() || part.shape.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (part.first[d] > shape[d] || part.shape[d] > shape[d] - part.first[d]) return false;
  return true;
}

/// The elements of the box in `whole`. Precondition: is_inside(part, whole.shape).
[[nodiscard]] inline memory_view view_of(const memory_view& whole, const box& part) {
  const auto width = size_of(whole.type);
  memory_view view{whole.type, part.shape, whole.memory,
                   whole.strides.empty() ? packed_strides(whole.shape, width) : whole.strides};
  for (std::size_t d = 0; d < view.strides.size(); ++d)
    view.memory += static_cast<std::int64_t>(part.first[d]) * view.strides[d];
  if (is_packed(view.shape, view.strides, width)) view.strides.clear();
  return view;
}

/// The elements that two boxes of an array have in common; a box without elements if there are none.
[[nodiscard]] inline box common_part(const box& a, const box& b) {
  box common{extents(a.first.size()), extents(a.first.size())};
  for (std::size_t d = 0; d < a.first.size(); ++d) {
    const auto begin = a.first[d] > b.first[d] ? a.first[d] : b.first[d];
    const auto end_a = a.first[d] + a.shape[d], end_b = b.first[d] + b.shape[d], end = end_a < end_b ? end_a : end_b;
    common.first[d] = begin;
    common.shape[d] = end > begin ? end - begin : 0;
  }
  return common;
}

/// The number of the element at `index` of the array, in the row-major order of the elements of `of`, which has it.
[[nodiscard]] inline std::uint64_t number_in(const box& of, const extents& index) noexcept {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < index.size(); ++d) number = number * of.shape[d] + (index[d] - of.first[d]);
  return number;
}

/// Calls `act(in_a, in_b, count)` for the elements that two boxes of an array share, in row-major order: for each run
/// of consecutive elements of both, the number of the first one in each box, and their number. O(runs * dimensions).
template <class Act>
void for_each_common_run(const box& a, const box& b, const Act& act) {
  const auto common = common_part(a, b);
  if (common.count() == 0) return;
  const auto dimensions = common.shape.size();
  // Dimensions from `inner` on are consecutive in both boxes: all but the first of them are whole in both.
  std::size_t inner = dimensions;
  std::uint64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= common.shape[inner];
    if (common.shape[inner] != a.shape[inner] || common.shape[inner] != b.shape[inner]) break;
  }
  auto index = common.first;
  while (true) {
    act(number_in(a, index), number_in(b, index), run);
    std::size_t d = inner;
    while (d > 0 && ++index[d - 1] == common.first[d - 1] + common.shape[d - 1]) {
      index[d - 1] = common.first[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

/// The same for the elements [first, first + count) of an array of this shape in row-major order, and a box of it.
/// `in_run` counts from `first` on.
template <class Act>
void for_each_common_run(std::uint64_t first, std::uint64_t count, const extents& shape, const box& b, const Act& act) {
  if (count == 0) return;
  box rows{extents(shape.size()), shape};  // those that have elements of the run
  std::uint64_t before = 0;
  if (!shape.empty()) {
    const auto width = element_count(shape) / shape[0];
    rows.first[0] = first / width;
    rows.shape[0] = (first + count - 1) / width + 1 - rows.first[0];
    before = rows.first[0] * width;
  }
  for_each_common_run(rows, b, [&](std::uint64_t in_rows, std::uint64_t in_b, std::uint64_t run) {
    const auto in_whole = before + in_rows;
    const auto begin = in_whole > first ? in_whole : first;
    const auto end = in_whole + run < first + count ? in_whole + run : first + count;
    if (begin < end) act(begin - first, in_b + (begin - in_whole), end - begin);
  });
}

}  // namespace cairn::inline v0_1::detail
