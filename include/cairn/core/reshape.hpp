// Which differences of shape between a checkpoint and a state a load accepts, and which elements it loads then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>

#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"

namespace cairn {

/// Whether a load accepts an array of another shape, of as many dimensions. The array keeps the shape that it has in the state, and its
/// elements that are not in the checkpoint keep their values.
enum class reshaping : std::uint8_t {
  none,  ///< another shape is a mismatch
  grow,  ///< the array may be larger in each dimension, so that all of the checkpoint is loaded
  any    ///< it may also be smaller: the elements of the checkpoint that have no place are left out
};

namespace detail {

[[nodiscard]] inline bool is_reshapable(const extents& from, const extents& to, reshaping allowed) noexcept {
  if (from.size() != to.size() || allowed == reshaping::none) return from == to;
  return allowed == reshaping::any || std::equal(from.begin(), from.end(), to.begin(), std::less_equal<>());
}

/// Whether the shapes are the same but for one dimension of 1 in front: an element, and a container of one.
[[nodiscard]] inline bool differ_by_container(const extents& a, const extents& b) noexcept {
  const auto& [more, fewer] = a.size() > b.size() ? std::tie(a, b) : std::tie(b, a);
  return more.size() == fewer.size() + 1 && more.front() == 1 &&
         std::equal(fewer.begin(), fewer.end(), more.begin() + 1);
}

/// The elements of `view` that an array of `shape`, of as many dimensions, also has.
[[nodiscard]] inline memory_view overlap_of(memory_view view, const extents& shape) {
  if (view.strides.empty()) view.strides = packed_strides(view.shape, size_of(view.type));
  for (std::size_t d = 0; d < shape.size(); ++d) view.shape[d] = (std::min)(view.shape[d], shape[d]);
  if (is_packed(view.shape, view.strides, size_of(view.type))) view.strides.clear();
  return view;
}

/// What would make a load accept the shapes, for the message of an error; empty if nothing does.
[[nodiscard]] inline std::string_view reshaping_advice(const extents& from, const extents& to) noexcept {
  if (element_count(to) == 0 && element_count(from) > 0)
    return "; give it that shape before the load, or leave it out with filter";
  if (is_reshapable(from, to, reshaping::grow)) return " (load with reshape and reshaping::grow to load what it has)";
  return is_reshapable(from, to, reshaping::any) ? " (load with reshape and reshaping::any to load what both have)"
                                                 : "";
}

}  // namespace detail
}  // namespace cairn
