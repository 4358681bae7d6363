#include "cairn/schedule/observed_run.hpp"

#include <limits>
#include <random>

#include "catch.hpp"

namespace {

using cairn::save_cost;
using cairn::save_kind;
using cairn::schedule::iteration_times;
using cairn::schedule::observed_costs;
using Catch::Approx;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

save_cost stall(save_kind kind, double seconds, double background = 0) {
  return {.kind = kind, .stall_seconds = seconds, .background_seconds = background};
}

}  // namespace

TEST_CASE("iterations beside saves tell what a second of saving takes from the training") {
  iteration_times times;
  CHECK(times.seconds() == 0);
  CHECK(times.slowdown() == 0);
  times.observe({.iteration_seconds = 4, .is_saving = true});
  CHECK(times.seconds() == 4);
  CHECK(times.slowdown() == 0);
  times.observe({.iteration_seconds = 4});  // in which that save ended
  times.observe({.iteration_seconds = 3});
  CHECK(times.seconds() == 3);
  times.observe({.iteration_seconds = 4, .is_saving = true});
  times.observe({.iteration_seconds = 3.5});
  times.saved(6);
  CHECK(times.slowdown() == Approx(1.5 / 6).epsilon(0.05));
  times.observe({.iteration_seconds = 30});  // for another reason
  CHECK(times.slowdown() == Approx(1.5 / 6).epsilon(0.05));
}

TEST_CASE("a save that is published within one iteration is noticed, and what iterations vary by themselves is not") {
  iteration_times times;
  std::mt19937 random(1);
  cairn::moment now;
  for (now.step = 1; now.step <= 4000; ++now.step) {
    const bool is_beside = now.step % 10 == 1;  // after a save at every tenth step
    if (is_beside) now.saved_step = now.step - 1;
    now.iteration_seconds = std::normal_distribution<>(1, 0.05)(random) + (is_beside ? 0.1 : 0);
    times.observe(now);
    if (is_beside) times.saved(0.4);
  }
  CHECK(times.slowdown() == Approx(0.25).margin(0.05));
}

TEST_CASE("iteration times pass over what is no time, and are remembered") {
  iteration_times times;
  for (const double bad : {0.0, -1.0, no_number, infinite}) {
    times.observe({.iteration_seconds = bad});
    times.saved(bad);
  }
  CHECK(times.seconds() == 0);
  CHECK(times.slowdown() == 0);
  times.observe({.iteration_seconds = 2});
  times.observe({.iteration_seconds = 5, .is_saving = true});
  times.saved(10);
  cairn::policy_memory memory;
  times.remember(memory);
  iteration_times restored;
  restored.recall(memory);
  CHECK(restored.seconds() == 2);
  CHECK(times.slowdown() == Approx(0.3).epsilon(0.05));
  CHECK(restored.slowdown() == times.slowdown());
  for (const auto& bad : {std::vector<double>{1}, {1, no_number}, {infinite, 1}, {1, -1}})
    restored.recall({{"slowdown", bad}});
  CHECK(restored.slowdown() == times.slowdown());
}

TEST_CASE("costs are told apart by kind") {
  observed_costs costs;
  CHECK_FALSE(costs.mean());
  costs.observe({.kind = save_kind::whole,
                 .stall_seconds = 1,
                 .background_seconds = 2,
                 .encode_seconds = 3,
                 .write_seconds = 4,
                 .bytes = 5,
                 .state_bytes = 6});
  costs.observe(stall(save_kind::delta, 3));
  costs.observe(stall(save_kind::delta, 5, 6));
  CHECK_FALSE(costs.mean(save_kind::raw));
  REQUIRE(costs.mean(save_kind::whole));
  CHECK(costs.mean(save_kind::whole)->stall_seconds == 1);
  CHECK(costs.mean(save_kind::whole)->background_seconds == 2);
  CHECK(costs.mean(save_kind::whole)->encode_seconds == 3);
  CHECK(costs.mean(save_kind::whole)->write_seconds == 4);
  CHECK(costs.mean(save_kind::whole)->bytes == 5);
  CHECK(costs.mean(save_kind::whole)->state_bytes == 6);
  CHECK(costs.mean(save_kind::delta)->stall_seconds == 4);
  CHECK(costs.count(save_kind::delta) == 2);
  CHECK(costs.mean()->stall_seconds == Approx(3));
  CHECK(costs.mean()->background_seconds == Approx((2 + 2 * 3) / 3.0));
}

TEST_CASE("a save whose stall is no number does not count") {
  observed_costs costs;
  costs.observe(stall(save_kind::raw, no_number, 1));
  CHECK_FALSE(costs.mean(save_kind::raw));
  CHECK_FALSE(costs.mean());
  costs.observe(stall(save_kind::whole, 2));
  costs.observe(stall(save_kind::delta, -1));
  CHECK(costs.mean()->stall_seconds == 2);
}

TEST_CASE("costs are what they were after a restart") {
  observed_costs costs, restored;
  costs.observe(stall(save_kind::raw, 1, 10));
  costs.observe(stall(save_kind::delta, 2, 20));
  costs.observe(stall(save_kind::raw, 3, 30));
  cairn::policy_memory memory;
  costs.remember(memory);
  restored.recall(memory);
  CHECK(restored.mean(save_kind::raw)->stall_seconds == 2);
  CHECK(restored.mean(save_kind::delta)->background_seconds == 20);
  CHECK_FALSE(restored.mean(save_kind::whole));
  CHECK(restored.mean(save_kind::raw)->background_seconds == 20);
  restored.recall({{"raw.stall", {}}, {"raw.nonsense", {1, 2}}, {"delta.stall", {no_number, 1}}});
  CHECK(restored.mean(save_kind::delta)->stall_seconds == 2);
  CHECK(restored.mean(save_kind::raw)->stall_seconds == 2);
}
