// SPDX-License-Identifier: MIT
#include "cairn/cairn.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("one include is enough to train, save and resume") {
  struct model {
    std::vector<float> weight{1, 2, 3};
    int step = 0;
  };
  const sample::scratch scratch;
  {
    cairn::checkpointer checkpoints(
        scratch.path("run"),
        {.keep_last = 2, .when = cairn::policies::every_steps{2}, .on_busy = cairn::when_busy::wait});
    model state;
    REQUIRE_FALSE(checkpoints.restore(state));
    for (state.step = 1; state.step <= 5; ++state.step) {
      state.weight[0] += 1;
      std::ignore = checkpoints.step(state, {.step = static_cast<std::uint64_t>(state.step)});
    }
  }
  model resumed;
  const auto report = cairn::checkpointer(scratch.path("run")).restore(resumed);
  REQUIRE(report);
  CHECK(report->step == 4);
  CHECK(resumed.step == 4);
  CHECK(resumed.weight == std::vector<float>{5, 2, 3});
  CHECK(cairn::load(scratch.path("run"), resumed).step == 4);
  static_assert(std::is_constructible_v<cairn::observer, cairn::observers::progress_line>);
}
