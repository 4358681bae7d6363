// SPDX-License-Identifier: MIT
// Definitions of reshape.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <tuple>

#include "cairn/state/reshape.hpp"
#include "cairn/core/box.hpp"

namespace cairn::inline v0_1::detail {

bool is_reshapable(const extents& from, const extents& to, reshaping allowed) noexcept {
  if (from.size() != to.size() || !keeps_shape(allowed)) return from == to;
  return allowed == reshaping::any || std::equal(from.begin(), from.end(), to.begin(), std::less_equal<>());
}

bool differ_by_container(const extents& a, const extents& b) noexcept {
  const auto& [more, fewer] = a.size() > b.size() ? std::tie(a, b) : std::tie(b, a);
  return more.size() == fewer.size() + 1 && more.front() == 1 &&
         std::equal(fewer.begin(), fewer.end(), more.begin() + 1);
}

memory_view overlap_of(const memory_view& view, const extents& shape) {
  const extents first(shape.size());
  return view_of(view, common_part({first, view.shape}, {first, shape}));
}

std::string_view reshaping_advice(const extents& from, const extents& to) noexcept {
  if (element_count(to) == 0 && element_count(from) > 0)
    return "; give it that shape before the load, or leave it out with filter";
  if (is_reshapable(from, to, reshaping::grow)) return " (load with reshape and reshaping::grow to load what it has)";
  return is_reshapable(from, to, reshaping::any) ? " (load with reshape and reshaping::any to load what both have)"
                                                 : "";
}

}  // namespace cairn::inline v0_1::detail
