// A box of an array: the elements whose index is, in each dimension, in a range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"

namespace cairn::detail {

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

}  // namespace cairn::detail
