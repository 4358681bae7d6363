// SPDX-License-Identifier: MIT
// Definitions of catalog.hpp, encoding.hpp and strided.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cairn/core/catalog.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/strided.hpp"

namespace cairn::inline v0_1::detail {

std::vector<std::int64_t> packed_strides(const extents& shape, std::size_t item_bytes) {
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t step = item_bytes;  // wraps for a shape of which no array can be
  for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) strides[d] = static_cast<std::int64_t>(step);
  return strides;
}

bool is_packed(const extents& shape, const std::vector<std::int64_t>& strides, std::size_t item_bytes) noexcept {
  if (element_count(shape) == 0) return true;
  std::uint64_t step = item_bytes;
  for (std::size_t d = shape.size(); d-- > 0; step *= shape[d])
    if (d < strides.size() && shape[d] != 1 && strides[d] != static_cast<std::int64_t>(step)) return false;
  return true;
}

std::pair<const std::byte*, const std::byte*> address_range(const memory_view& view) noexcept {
  const std::byte *begin = view.memory, *end = view.memory;
  for (std::size_t d = 0; d < view.strides.size(); ++d) {
    const auto reach = view.strides[d] * (static_cast<std::int64_t>(view.shape[d]) - 1);
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end + (view.contiguous() ? view.bytes() : size_of(view.type))};
}

/// Copies from the strided memory to the packed one, or, where that is const, the other way.
template <class Byte>
void move_run(std::byte* strided, Byte* packed, std::size_t bytes) noexcept {
  if constexpr (std::is_const_v<Byte>)
    std::memcpy(strided, packed, bytes);
  else
    std::memcpy(packed, strided, bytes);
}

template <std::size_t Bytes, class Byte>
void move_row_of(std::byte* strided, std::int64_t stride, Byte* packed, std::size_t runs) noexcept {
  for (std::size_t i = 0; i < runs; ++i, strided += stride, packed += Bytes) move_run(strided, packed, Bytes);
}

/// Moves `runs` runs of `bytes` each; the usual sizes compile to plain loads and stores.
template <class Byte>
void move_row(std::byte* strided, std::int64_t stride, Byte* packed, std::size_t bytes, std::size_t runs) noexcept {
  switch (bytes) {
    case 1:
      return move_row_of<1>(strided, stride, packed, runs);
    case 2:
      return move_row_of<2>(strided, stride, packed, runs);
    case 4:
      return move_row_of<4>(strided, stride, packed, runs);
    case 8:
      return move_row_of<8>(strided, stride, packed, runs);
    case 12:
      return move_row_of<12>(strided, stride, packed, runs);
    case 16:
      return move_row_of<16>(strided, stride, packed, runs);
    default:
      for (std::size_t i = 0; i < runs; ++i, strided += stride, packed += bytes) move_run(strided, packed, bytes);
  }
}

template <class Byte>
void move_range(const memory_view& view, std::uint64_t first_byte, Byte* packed, std::size_t bytes) {
  if (bytes == 0) return;
  // `dims` outer dimensions over runs of adjacent bytes; of a packed view one run.
  std::size_t dims = view.strides.size(), run_bytes = size_of(view.type);
  while (dims > 0 && (view.shape[dims - 1] == 1 || view.strides[dims - 1] == static_cast<std::int64_t>(run_bytes)))
    run_bytes *= view.shape[--dims];
  if (dims == 0) return move_run(view.memory + first_byte, packed, bytes);

  std::vector<std::uint64_t> at(dims);  // the coordinates of the current run
  std::uint64_t run = first_byte / run_bytes;
  std::size_t within = first_byte % run_bytes;
  for (std::size_t d = dims; d-- > 0; run /= view.shape[d]) at[d] = run % view.shape[d];

  const auto row_stride = view.strides[dims - 1];
  while (bytes > 0) {
    std::byte* from = view.memory;
    for (std::size_t d = 0; d < dims; ++d) from += static_cast<std::int64_t>(at[d]) * view.strides[d];
    std::size_t runs = 1;
    std::size_t moved = 0;
    if (within != 0 || bytes < run_bytes) {  // within one run
      moved = std::min(run_bytes - within, bytes);
      move_run(from + within, packed, moved);
      if (within + moved < run_bytes) return;
      within = 0;
    } else {  // whole runs to the end of the row
      runs = std::min<std::size_t>(view.shape[dims - 1] - at[dims - 1], bytes / run_bytes);
      moved = runs * run_bytes;
      move_row(from, row_stride, packed, run_bytes, runs);
    }
    packed += moved;
    bytes -= moved;
    at[dims - 1] += runs;
    for (std::size_t d = dims - 1; d > 0 && at[d] == view.shape[d]; --d) at[d] = 0, ++at[d - 1];
  }
}

void gather(const memory_view& view, std::uint64_t first_element, std::span<std::byte> out) {
  move_range(view, first_element * size_of(view.type), out.data(), out.size());
}

void scatter(const memory_view& view, std::uint64_t first_element, std::span<const std::byte> in) {
  scatter_bytes(view, first_element * size_of(view.type), in);
}

void scatter_bytes(const memory_view& view, std::uint64_t first_byte, std::span<const std::byte> in) {
  move_range(view, first_byte, in.data(), in.size());
}

std::size_t catalog::find(std::string_view path) const noexcept {
  const auto at = std::ranges::lower_bound(leaves, path, std::less<>(), &stored_leaf::path);
  return at != leaves.end() && at->path == path ? static_cast<std::size_t>(at - leaves.begin()) : npos;
}

loss worse(const loss& a, const loss& b) noexcept {
  return {std::max(a.max_error, b.max_error), std::max(a.relative_l2, b.relative_l2), std::max(a.delta_l2, b.delta_l2)};
}

}  // namespace cairn::inline v0_1::detail
