// Walks state of one rank: each rank's value has a path of its own.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn::detail {

inline std::string rank_path(unsigned rank) { return "rank" + std::to_string(rank); }

template <class T, class Redistribute>
void walk_per_rank(walker& w, per_rank<T, Redistribute>& object) {
  if (w.is_filtered()) return;
  const auto [rank, ranks] = w.here();
  if (w.is_describing()) {
    w.state(fact::kind::ranks, ranks);
    return walk_part(w, rank_path(rank), object.value);
  }
  const fact* stored = w.stored(fact::kind::ranks);
  if (!stored) return;
  w.claim();
  if (stored->number == ranks) return walk_part(w, rank_path(rank), object.value);
  if constexpr (std::is_same_v<Redistribute, refuse>) {
    w.refuse("is per-rank state saved by " + std::to_string(stored->number) + " ranks, which cannot be loaded on " +
             std::to_string(ranks) + "; give cairn::per_rank a Redistribute that can");
  } else {
    const auto saved = w.match().checked_size(w.path(), stored->number, false);
    const auto values = std::make_shared<std::vector<T>>(saved);
    w.begin_copy(values);
    for (unsigned r = 0; r < saved; ++r) walk_part(w, rank_path(r), (*values)[r]);
    if (!w.end_copy()) return;
    T mine = Redistribute::redistribute(std::move(*values), rank, ranks);
    if (w.is_writing()) object.value = std::move(mine);
  }
}

}  // namespace cairn::detail
