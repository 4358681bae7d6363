// SPDX-License-Identifier: MIT
// Runs what is compared in turn, so that a slow phase of the machine meets all alike.
#pragma once

#include <cstddef>
#include <span>

namespace bench {

/// Calls `visit(item, repetition)` for all items in turn, `repetitions` times over; every repetition starts with
/// another one.
template <class Item, class Visit>
void interleave(std::span<Item> items, std::size_t repetitions, const Visit& visit) {
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition)
    for (std::size_t i = 0; i < items.size(); ++i) visit(items[(i + repetition) % items.size()], repetition);
}

}  // namespace bench
