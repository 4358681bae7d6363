// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <string>

#include "cairn/checkpointer.hpp"
#include "cairn/levels.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
#include "s3/bucket.hpp"
#include "trainer.hpp"

using tests::trained;
using tests::trainer;
namespace fs = std::filesystem;

TEST_CASE("a bucket that is away for an hour, or that a rule has emptied, gets the next checkpoint") {
  sample::bucket bucket;
  const sample::scratch disk;
  cairn::checkpointer run(
      cairn::levels{disk.path("near"), cairn::level{bucket.store(), {.every = std::chrono::seconds(0)}}},
      {.keep_last = 2});
  run.save(trained(1), {.step = 1});
  SECTION("away") {
    bucket.choose = [](const auto&) { return sample::fault::lost; };
    CHECK_THROWS_AS(run.save(trained(2), {.step = 2}), cairn::error);
    bucket.pass(std::chrono::hours(1));
    bucket.choose = [](const auto&) { return sample::fault::none; };
  }
  SECTION("emptied") { bucket.objects.clear(); }
  run.save(trained(3), {.step = 3});
  trainer state;
  cairn::load(cairn::any_store(bucket.store()), state);
  CHECK(state == trained(3));
}

TEST_CASE("a machine vanishes again and again with its disk, and requests to the bucket fail: nothing is lost") {
  sample::bucket bucket;
  std::mt19937_64 random(5);
  bucket.choose = [&](const auto&) {
    constexpr sample::fault some[] = {sample::fault::lost, sample::fault::lost_answer, sample::fault::twice,
                                      sample::fault::internal_error, sample::fault::slow_down};
    return random() % 20 == 0 ? some[random() % std::size(some)] : sample::fault::none;
  };
  std::atomic<std::uint64_t> safe{0};  // what the bucket has for certain
  for (int machine = 0; machine < 40; ++machine) {
    const sample::scratch disk;
    cairn::checkpointer run(
        cairn::levels{disk.path("near"), cairn::level{bucket.store(), {.every = std::chrono::seconds(0)}}},
        {.keep_last = 2,
         .when = cairn::policies::every_steps{1},
         .on_event =
             [&](const cairn::event& what) {
               if (what.what == cairn::event::kind::promoted) safe = std::max<std::uint64_t>(safe, what.step);
             },
         .on_destruction = cairn::when_destroyed::cancel});
    trainer state;
    const auto report = run.restore(state);
    auto step = report ? report->step : 0;
    REQUIRE(step >= safe);
    if (step > 0) REQUIRE(state == trained(step));
    for (auto left = random() % 6; left > 0; --left) {
      ++step;
      if (random() % 3 == 0)
        run.save(trained(step), {.step = step});
      else
        static_cast<void>(run.step(trained(step), {.step = step}));
    }
  }
  REQUIRE(safe > 0);
  trainer state;
  cairn::load(cairn::any_store(bucket.store()), state);
  CHECK(static_cast<std::uint64_t>(state.step) >= safe);
}
