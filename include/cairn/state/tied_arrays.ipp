// SPDX-License-Identifier: MIT
// Definitions of tied_arrays.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "cairn/state/fetched_leaves.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/tied_arrays.hpp"

namespace cairn::inline v0_1::detail {

void tied_arrays::add(const memory_view& view, const device_copies* device, std::size_t index) {
  if (!view.memory || view.bytes() == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(view.memory);
  const std::uint64_t bytes = view.contiguous() ? view.bytes() : size_of(view.type);
  arrays_.push_back(
      {memory_key(view.memory, device).space, view.strides, begin, begin + bytes, view.count(), view.type, index});
}

std::vector<std::byte> tied_arrays::values_of(fetched_leaves& by, const catalog& from, const array& of) {
  std::vector<std::byte> values(of.count * size_of(of.type));
  fetch_leaf(by, from, of.leaf, {of.type, from.leaves[of.leaf].shape, values.data(), {}});
  return values;
}

std::vector<std::pair<std::string, std::string>> tied_arrays::find_conflicts(fetched_leaves& by, const catalog& from) {
  std::vector<std::pair<std::string, std::string>> found;
  using group = std::tuple<const void*, const std::vector<std::int64_t>&, dtype, std::uint64_t>;
  const auto group_of = [](const array& of) {  // arrays with gaps are compared with those of the same type and size
    const bool has_gaps = !of.strides.empty();
    return group(of.space, of.strides, has_gaps ? of.type : dtype{}, has_gaps ? of.count : 0);
  };
  const auto order = [&](const array& a, const array& b) {
    const auto left = group_of(a), right = group_of(b);
    return left != right ? left < right : a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  std::sort(arrays_.begin(), arrays_.end(), order);
  const array* outer = nullptr;  // of the arrays until now, the one that ends last
  std::vector<std::byte> outer_values;
  for (const array& each : arrays_) {
    const bool is_near = outer && group_of(*outer) == group_of(each);
    if (is_near && each.begin < outer->end) {
      if (each.leaf == outer->leaf && each.begin == outer->begin) continue;
      if (outer_values.empty()) outer_values = values_of(by, from, *outer);
      const auto values = values_of(by, from, each);
      const auto shared = outer_values.begin() + static_cast<std::ptrdiff_t>(each.begin - outer->begin);
      const auto size = std::min(values.size(), static_cast<std::size_t>(outer_values.end() - shared));
      if (!std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size), shared))
        found.emplace_back(from.leaves[outer->leaf].path, from.leaves[each.leaf].path);
    }
    if (!is_near || each.end > outer->end) {
      outer = &each;
      outer_values.clear();
    }
  }
  return found;
}

}  // namespace cairn::inline v0_1::detail
