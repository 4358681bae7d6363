#include "cairn/background/pace.hpp"

#include <chrono>
#include <thread>

#include "catch.hpp"

using cairn::pace;
using cairn::save_abandoned;

TEST_CASE("without a limit and unless it is abandoned it lets everything through") {
  pace goes;
  for (int round = 0; round < 3; ++round) {
    goes.begin(0);
    CHECK_NOTHROW(goes.check());
    CHECK_NOTHROW(goes.reach(1'000'000'000'000));
    goes.abandon();
    CHECK_THROWS_AS(goes.check(), save_abandoned);
    CHECK_THROWS_AS(goes.reach(0), save_abandoned);
  }
}

TEST_CASE("so many bytes take so long at least") {
  pace goes;
  const auto began = pace::clock::now();  // before the first call, from which it counts
  goes.begin(1e6);
  goes.reach(0);
  goes.reach(5'000);
  goes.reach(20'000);
  CHECK(pace::clock::now() - began >= std::chrono::milliseconds(19));
  CHECK(goes.held_back() > 0);
  goes.begin(0);
  goes.reach(1'000'000);
  CHECK(goes.held_back() == 0);
}

TEST_CASE("who waits for the limit is woken by haste, and by the end") {
  for (const bool in_haste : {true, false}) {
    pace goes;
    goes.begin(1e-9);
    bool is_abandoned = false;
    std::thread waits([&] {
      try {
        goes.reach(1);
      } catch (const save_abandoned&) {
        is_abandoned = true;
      }
    });
    in_haste ? goes.hurry() : goes.abandon();
    waits.join();
    CHECK(is_abandoned == !in_haste);
  }
}
