// SPDX-License-Identifier: MIT
// Marks state that differs between ranks, and defines how it is loaded on another number of ranks.
#pragma once

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// The default of `per_rank`: a checkpoint of another number of ranks does not load.
struct refuse_other_ranks {};

/// State of one rank alone: a random engine, a data cursor. Every rank of a group saves its own value and loads that
/// value again. The value of rank i is stored as `<path>.rank<i>`; a process without a group is rank 0 of 1.
///
/// On another number of ranks `Redistribute::redistribute(std::vector<T> saved, unsigned rank, unsigned ranks) -> T`
/// makes this rank's value from those of all ranks that saved; without one the load fails (errc::mismatch).
template <class T, class Redistribute = refuse_other_ranks>
struct per_rank {
  T value{};  ///< of this rank

  [[nodiscard]] T& operator*() noexcept { return value; }
  [[nodiscard]] const T& operator*() const noexcept { return value; }
  [[nodiscard]] T* operator->() noexcept { return &value; }
  [[nodiscard]] const T* operator->() const noexcept { return &value; }
};

namespace detail {

/// The rank of this process, and the number of processes that save together. The default is a single process.
struct rank_info {
  unsigned rank = 0;
  unsigned ranks = 1;
};

}  // namespace detail
}  // namespace cairn::inline v0_1
