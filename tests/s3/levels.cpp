// SPDX-License-Identifier: MIT
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

TEST_CASE("a machine vanishes again and again with its disk, and requests to the bucket fail: nothing is lost") {
  sample::bucket bucket;
  std::mt19937_64 random(5);
  bucket.choose = [&](const auto&) {
    constexpr sample::fault some[] = {sample::fault::lost, sample::fault::lost_answer, sample::fault::twice,
                                      sample::fault::internal_error, sample::fault::slow_down};
    return random() % 20 == 0 ? some[random() % std::size(some)] : sample::fault::none;
  };
  std::uint64_t safe = 0;  // what the bucket has for certain
  for (int machine = 0; machine < 40; ++machine) {
    const sample::scratch disk;
    cairn::checkpointer run(
        cairn::levels{disk.path("near"), cairn::level{bucket.store(), {.every = std::chrono::seconds(0)}}},
        {.keep_last = 2, .when = cairn::policies::every_steps{1}});
    trainer state;
    const auto report = run.restore(state);
    auto step = report ? report->step : 0;
    REQUIRE(step >= safe);
    if (step > 0) REQUIRE(state == trained(step));
    for (auto left = random() % 6; left > 0; --left) {
      ++step;
      if (random() % 3 == 0)
        run.save(trained(step), {.step = step}), safe = step;
      else
        static_cast<void>(run.step(trained(step), {.step = step}));
    }
  }
  REQUIRE(safe > 0);
  trainer state;
  cairn::load(cairn::any_store(bucket.store()), state);
  CHECK(static_cast<std::uint64_t>(state.step) >= safe);
}
