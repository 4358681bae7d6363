// SPDX-License-Identifier: MIT
// Which differences of dtype and shape between a checkpoint and a state a load accepts, and how it converts elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1 {

/// Which differences of dtype between a checkpoint and a state a load converts.
enum class conversion : std::uint8_t {
  none,      ///< none: another dtype is a mismatch
  widening,  ///< those that keep every value: F16 -> F32, I32 -> F64, U8 -> I16, ...
  any        ///< between floating types also with rounding; between integers where every stored value fits
};

namespace detail {

/// True where every value of `from` has an equal value of `to`.
[[nodiscard]] constexpr bool is_widening(dtype from, dtype to) noexcept {
  if (from == to) return true;
  if (to == dtype::boolean || (is_floating(from) && !is_floating(to))) return false;
  if (is_signed_integer(from) && !is_signed_integer(to) && !is_floating(to)) return false;
  const auto& have = dtype_table[static_cast<std::size_t>(from)];
  const auto& want = dtype_table[static_cast<std::size_t>(to)];
  // The digits must fit. From floating to floating types the smallest denormal must too, which is 2^(3 - exponent -
  // digits), for E4M3 twice that. From integers to floating types the range must.
  return have.digits <= want.digits &&
         (!is_floating(to) || (have.exponent + have.digits) <= (want.exponent + want.digits)) &&
         (is_floating(from) || !is_floating(to) || have.digits <= want.exponent);
}

/// True where a load with `allowed` may read `from` into `to`. Integers have to fit too, which `convert` checks.
[[nodiscard]] constexpr bool is_convertible(dtype from, dtype to, conversion allowed) noexcept {
  if (from == to) return true;
  if (allowed == conversion::none) return false;
  if (allowed == conversion::widening) return is_widening(from, to);
  return to != dtype::boolean && (is_floating(to) || !is_floating(from));
}

/// Which option of a load would convert `from` into `to`, for the message of an error; empty if none does.
[[nodiscard]] constexpr std::string_view conversion_advice(dtype from, dtype to) noexcept {
  if (is_convertible(from, to, conversion::widening)) return " (load with convert = conversion::widening)";
  return is_convertible(from, to, conversion::any) ? " (load with convert = conversion::any)" : "";
}

/// Converts `in.size() / size_of(from)` elements between types for which `is_convertible`. Values round to nearest
/// even. False when an integer does not fit into `to`; `out` then has a part of the result.
[[nodiscard]] bool convert(dtype from, std::span<const std::byte> in, dtype to, std::span<std::byte> out) noexcept;

}  // namespace detail

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
