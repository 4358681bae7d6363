#include "cairn/run/rate_limiter.hpp"

#include <chrono>
#include <thread>

#include "catch.hpp"

using cairn::rate_limiter;
using cairn::save_abandoned;

TEST_CASE("without a limit and unless it is abandoned it lets everything through") {
  rate_limiter limiter;
  for (int round = 0; round < 3; ++round) {
    limiter.begin(0);
    CHECK_NOTHROW(limiter.check());
    CHECK_NOTHROW(limiter.reach(1'000'000'000'000));
    limiter.abandon();
    CHECK_THROWS_AS(limiter.check(), save_abandoned);
    CHECK_THROWS_AS(limiter.reach(0), save_abandoned);
  }
}

TEST_CASE("so many bytes take so long at least") {
  rate_limiter limiter;
  const auto began = rate_limiter::clock::now();  // before the first call, from which it counts
  limiter.begin(1e6);
  limiter.reach(0);
  limiter.reach(5'000);
  limiter.reach(20'000);
  CHECK(rate_limiter::clock::now() - began >= std::chrono::milliseconds(19));
  CHECK(limiter.held_back() > 0);
  limiter.begin(0);
  limiter.reach(1'000'000);
  CHECK(limiter.held_back() == 0);
}

TEST_CASE("who waits for the limit is woken by haste, and by the end") {
  for (const bool in_haste : {true, false}) {
    rate_limiter limiter;
    limiter.begin(1e-9);
    bool is_abandoned = false;
    std::thread waits([&] {
      try {
        limiter.reach(1);
      } catch (const save_abandoned&) {
        is_abandoned = true;
      }
    });
    in_haste ? limiter.hurry() : limiter.abandon();
    waits.join();
    CHECK(is_abandoned == !in_haste);
  }
}
