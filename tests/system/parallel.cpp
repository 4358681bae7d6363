// SPDX-License-Identifier: MIT
#include "cairn/system/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"

TEST_CASE("every item is done once, whatever the number of threads") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    for (const std::size_t items : {0U, 1U, 2U, 1000U}) {
      std::vector<std::atomic<int>> done(items);
      std::vector<std::atomic<bool>> busy(std::min<std::size_t>(cairn::detail::threads_of(threads), items));
      std::atomic<bool> worker_in_range{true}, is_shared{false};
      cairn::detail::parallel_for(items, threads, [&](std::size_t i, unsigned worker) {
        ++done[i];
        if (worker >= busy.size()) return void(worker_in_range = false);
        if (busy[worker].exchange(true)) is_shared = true;  // another call with this number runs
        busy[worker] = false;
      });
      for (const auto& each : done) REQUIRE(each == 1);
      CHECK(worker_in_range);
      CHECK_FALSE(is_shared);
    }
  }
}

TEST_CASE("large items get all threads, one at a time; small ones get one thread each") {
  for (const unsigned threads : {0U, 1U, 3U}) {
    const unsigned all = threads == 0 ? cairn::detail::default_threads() : threads;
    std::vector<std::atomic<unsigned>> given(100);
    std::atomic<int> large_now{0};
    std::atomic<bool> is_alone{true};
    const auto is_large = [](std::size_t i) { return i % 7 == 0; };
    cairn::detail::parallel_by_size(
        given.size(), threads, [&](std::size_t i) { return cairn::detail::large_item_bytes - (is_large(i) ? 0 : 1); },
        [&](std::size_t i, unsigned with) {
          given[i] += with;
          if (is_large(i) && large_now++ != 0) is_alone = false;
          if (is_large(i)) --large_now;
        });
    for (std::size_t i = 0; i < given.size(); ++i) REQUIRE(given[i] == (is_large(i) ? all : 1));
    CHECK(is_alone);
  }
}

TEST_CASE("an exception reaches the caller and stops the hand-out") {
  std::atomic<int> done{0};
  CHECK_THROWS_AS(cairn::detail::parallel_for(100000, 3,
                                              [&](std::size_t i, unsigned) {
                                                if (i == 10) throw std::runtime_error("x");
                                                ++done;
                                                std::this_thread::yield();  // to the one that throws, if it has to wait
                                              }),
                  std::runtime_error);
  CHECK(done < 99999);
}
