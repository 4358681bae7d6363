// Marks state that differs from rank to rank, and says what becomes of it on another number of ranks.
#pragma once

#include <utility>

namespace cairn {

/// The default for `per_rank`: a checkpoint of another number of ranks does not load.
struct refuse {};

/// State of one rank alone: a random engine, a data cursor. Saved by every rank, loaded by the rank that
/// saved it. On another number of ranks `Redistribute::redistribute(std::vector<T> saved, unsigned rank,
/// unsigned ranks) -> T` makes this rank's value from those of all earlier ranks; with `refuse` the load
/// fails.
template <class T, class Redistribute = refuse>
struct per_rank {
  T value{};

  [[nodiscard]] T& operator*() noexcept { return value; }
  [[nodiscard]] const T& operator*() const noexcept { return value; }
  [[nodiscard]] T* operator->() noexcept { return &value; }
  [[nodiscard]] const T* operator->() const noexcept { return &value; }
};

}  // namespace cairn
