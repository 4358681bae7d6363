// SPDX-License-Identifier: MIT
// Sorts lists by one std::sort of indices, which is compiled once instead of once per type of element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace cairn::inline v0_1::detail {

/// The numbers from 0 to `count` - 1, sorted by `before(a, b)`. O(n) if they are in order already.
[[nodiscard]] inline std::vector<std::size_t> sorted_order(
    std::size_t count, const std::function<bool(std::size_t, std::size_t)>& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::ranges::is_sorted(order, std::ref(before))) std::ranges::sort(order, std::ref(before));
  return order;
}

/// Sorts `items` by `before(x, y)`.
template <class Item, class Before>
void sort_items(std::vector<Item>& items, const Before& before) {
  const auto order =
      sorted_order(items.size(), [&](std::size_t a, std::size_t b) { return before(items[a], items[b]); });
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  for (const auto i : order) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

}  // namespace cairn::inline v0_1::detail
