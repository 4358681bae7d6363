// SPDX-License-Identifier: MIT
// What the tests of several ranks share.
#pragma once

#include "cairn/group/threads.hpp"
#include "cairn/checkpointer.hpp"
#include "cairn/options.hpp"
#include "catch.hpp"
#include "hooked_store.hpp"

/// Runs `act` at each rank, in a thread of its own. Returns what each has thrown, "" for none.
inline std::vector<std::string> at_each(unsigned ranks, const std::function<void(cairn::groups::threads)>& act) {
  auto group = cairn::groups::threads::make(ranks);
  std::vector<std::string> thrown(ranks);
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank, own = std::exchange(group[rank], group[rank])]() mutable {
      try {
        act(std::move(own));
      } catch (const std::exception& cause) {
        thrown[rank] = cause.what();
      }
    });
  group.clear();
  for (auto& each : threads) each.join();
  return thrown;
}

/// What all ranks have thrown, which must be the same.
inline std::string common(const std::vector<std::string>& thrown) {
  for (const auto& each : thrown) CHECK(each == thrown.front());
  return thrown.front();
}

/// CHECK is for one thread alone.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

inline cairn::checkpointer_options quick() {
  cairn::checkpointer_options options;
  options.rank_timeout = std::chrono::seconds(70);  // above the lease of a directory
  options.retry_for = {};
  return options;
}

/// Saves, in the background or not, and returns when that is done.
template <class State>
cairn::save_report save_at(cairn::checkpointer& to, const State& state, std::uint64_t step, bool in_background) {
  if (!in_background) return to.save(state, {.step = step});
  const auto outcome = to.step(state, {.step = step});
  to.wait();
  return outcome.save.get();
}

/// A store that fails to write while `*writes` is false; null: it writes.
inline hooked_store broken_store(const cairn::any_store& base, const std::atomic<bool>* writes) {
  return {base, {.before_write = [writes] {
            if (writes != nullptr && !*writes) cairn::fail(cairn::errc::io, {"the disk is full"});
          }}};
}
