// SPDX-License-Identifier: MIT
// Which differences of shape between a checkpoint and a state a load accepts, and which elements it loads then.
#pragma once

#include <cstdint>
#include <string_view>

#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1 {

/// What a load does where an array of numbers that is not empty has another shape in the checkpoint. With `grow` and
/// `any` the array keeps its shape, of as many dimensions, and its elements that the checkpoint does not have.
enum class reshaping : std::uint8_t {
  /// errc::mismatch, unless its class names it in `cairn::resizable`; a checkpointer treats it as `resize` after its
  /// first save or restore
  none,
  grow,   ///< the array may be larger in each dimension, so that all of the checkpoint is loaded
  any,    ///< it may also be smaller: the elements of the checkpoint that have no place are left out
  resize  ///< it gets the shape of the checkpoint, if its type allows that
};

namespace detail {

/// Whether the array keeps its shape, and is loaded where both have elements.
[[nodiscard]] constexpr bool keeps_shape(reshaping allowed) noexcept {
  return allowed == reshaping::grow || allowed == reshaping::any;
}

[[nodiscard]] bool is_reshapable(const extents& from, const extents& to, reshaping allowed) noexcept;

/// Whether the shapes are the same but for one dimension of 1 in front: an element, and a container of one.
[[nodiscard]] bool differ_by_container(const extents& a, const extents& b) noexcept;

/// The elements of `view` that an array of `shape`, of as many dimensions, also has.
[[nodiscard]] memory_view overlap_of(const memory_view& view, const extents& shape);

/// What would make a load accept the shapes, for the message of an error; empty if nothing does.
[[nodiscard]] std::string_view reshaping_advice(const extents& from, const extents& to) noexcept;

}  // namespace detail
}  // namespace cairn::inline v0_1
