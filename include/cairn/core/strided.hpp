// SPDX-License-Identifier: MIT
// Moves any range of elements between a strided view and packed row-major bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1::detail {

/// The strides of a packed row-major array, in bytes.
[[nodiscard]] std::vector<std::int64_t> packed_strides(const extents& shape, std::size_t item_bytes);

/// True where `strides` are those of a packed array. There may be fewer than dimensions: the last dimensions are packed
/// then. Strides of dimensions of one element do not matter; an empty array is packed.
[[nodiscard]] bool is_packed(const extents& shape, const std::vector<std::int64_t>& strides,
                             std::size_t item_bytes) noexcept;

/// The lowest address of an element, and the end of the highest one. Precondition: the view has elements.
[[nodiscard]] std::pair<const std::byte*, const std::byte*> address_range(const memory_view& view) noexcept;

/// Copies elements [first_element, first_element + out.size() / item size) of the flattened view into `out`.
void gather(const memory_view& view, std::uint64_t first_element, std::span<std::byte> out);

/// Copies `in` over the elements of the flattened view that begin at `first_element`.
void scatter(const memory_view& view, std::uint64_t first_element, std::span<const std::byte> in);

/// Copies `in` over the packed bytes of the flattened view from `first_byte` on, which may be within an element.
void scatter_bytes(const memory_view& view, std::uint64_t first_byte, std::span<const std::byte> in);

}  // namespace cairn::inline v0_1::detail
