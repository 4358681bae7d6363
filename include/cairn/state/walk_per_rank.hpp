// SPDX-License-Identifier: MIT
// Walks per-rank state: the value of each rank has its own path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/per_rank.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

inline std::string rank_path(std::uint64_t rank) { return "rank" + std::to_string(rank); }

template <class T, class Redistribute>
void walk_per_rank(walker& w, per_rank<T, Redistribute>& object) {
  constexpr bool redistributes = !std::is_same_v<Redistribute, refuse_other_ranks>;
  const auto [rank, ranks] = w.here();
  const auto saved = w.saved_ranks(redistributes);
  if (saved == 0) return;
  if (saved == ranks) return w.part(rank_path(rank), &object.value, walk<T>);
  if constexpr (redistributes) {
    const auto values = std::make_shared<std::vector<T>>(saved);
    walker& copy = w.begin_copy();
    for (std::uint64_t r = 0; r < saved; ++r) copy.part(rank_path(r), &(*values)[r], walk<T>);
    const auto answer = copy.end_copy();
    if (answer == copy_answer::drop) return;
    T mine = Redistribute::redistribute(std::move(*values), rank, ranks);
    if (answer == copy_answer::put) object.value = std::move(mine);
  } else {
    w.reject("is per-rank state saved by " + std::to_string(saved) + " ranks, which cannot be loaded on " +
             std::to_string(ranks) + "; give cairn::per_rank a Redistribute that can");
  }
}

}  // namespace cairn::inline v0_1::detail
