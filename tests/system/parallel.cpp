#include "cairn/system/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "catch.hpp"

TEST_CASE("every item is done once, whatever the number of threads") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    for (const std::size_t items : {0U, 1U, 2U, 1000U}) {
      std::vector<std::atomic<int>> done(items);
      std::atomic<bool> worker_in_range{true};
      cairn::detail::parallel_for(items, threads, [&](std::size_t i, unsigned worker) {
        ++done[i];
        if (worker >= std::max(threads, cairn::detail::default_threads())) worker_in_range = false;
      });
      for (const auto& each : done) REQUIRE(each == 1);
      CHECK(worker_in_range);
    }
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
