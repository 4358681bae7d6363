// SPDX-License-Identifier: MIT
// The time of copies in the plan of a stop. The copies here say what they take, and make nothing.
#include <chrono>
#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/store/level_set.hpp"
#include "catch.hpp"
#include "gate.hpp"
#include "store/sample.hpp"
#include "trainer.hpp"

using sample::steps_in;
using steps = std::vector<std::uint64_t>;
using tests::trained;

namespace {

struct said_copies final : cairn::detail::level_copies {
  explicit said_copies(double each) : seconds(each) {}

  void published(const std::string& /*name*/) override {}
  [[nodiscard]] std::set<std::string> copying() const override { return {}; }
  [[nodiscard]] bool complete(double /*seconds*/) override { return true; }
  [[nodiscard]] bool finish(double /*seconds*/) override { return true; }
  [[nodiscard]] std::vector<cairn::level_stats> stats() const override {
    cairn::level_stats said;
    said.last_seconds = seconds;
    return {said};
  }
  void stepped(double /*seconds*/, bool /*is_saving*/) noexcept override {}
  void restarted(const cairn::restart& /*how*/, const cairn::policy_memory& /*notes*/) noexcept override {}
  void remember(cairn::policy_memory& /*notes*/) const noexcept override {}

  double seconds;
};

struct said_levels final : cairn::detail::level_set {
  said_levels(cairn::any_store first, double each) : near(std::move(first)), seconds(each) {}

  [[nodiscard]] std::size_t size() const override { return 1; }
  [[nodiscard]] cairn::any_store& place(std::size_t /*number*/) override { return near; }
  [[nodiscard]] std::vector<std::size_t> having(const std::string& /*name*/) const override { return {0}; }
  [[nodiscard]] std::vector<std::string> abandoned(std::size_t /*place*/) const override { return {}; }
  void remove_abandoned() override {}
  [[nodiscard]] double began() const override { return 1; }
  [[nodiscard]] std::unique_ptr<cairn::detail::level_copies> start(
      const cairn::checkpointer_options& /*options*/, unsigned /*rank*/, unsigned /*ranks*/,
      std::function<void(const cairn::event&)> /*on_event*/) override {
    return std::make_unique<said_copies>(seconds);
  }
  [[nodiscard]] std::optional<std::size_t> keep_last(std::size_t /*place*/) const override { return std::nullopt; }

  cairn::any_store near;
  double seconds;
};

/// Each copy to its farther place is said to take that long.
struct copied_store : tests::gated_store {
  double seconds = 0;

  [[nodiscard]] std::shared_ptr<cairn::detail::level_set> level_set_of_places() const {
    return std::make_shared<said_levels>(static_cast<const gated_store&>(*this), seconds);
  }
};

}  // namespace

TEST_CASE("a run stops so long before `until` that its last copy is made by then") {
  const bool is_slow = GENERATE(false, true);
  copied_store store;
  store.seconds = is_slow ? 3600 : 0;
  cairn::checkpointer run(store, {.when = cairn::policies::every_steps{1},
                                  .until = std::chrono::system_clock::now() + std::chrono::minutes(30)});
  CHECK(run.step(trained(1), {.step = 1}).stop == is_slow);
}

TEST_CASE("after a signal the save that runs is cancelled where a copy takes all the time that is left") {
  const bool is_slow = GENERATE(false, true);
  copied_store store;
  store.seconds = is_slow ? 7200 : 0;
  store.entrance->close();
  cairn::checkpointer run(store, {.when = cairn::policies::every_steps{1},
                                  .on_event =
                                      [&](const cairn::event& what) {
                                        if (what.what == cairn::event::kind::hanging) store.entrance->open();
                                      },
                                  .hang_timeout = std::chrono::nanoseconds(1),
                                  .preempt = {SIGUSR2},
                                  .preempt_deadline = std::chrono::hours(1)});
  const auto first = run.step(trained(1), {.step = 1});
  CHECK(first.started);
  std::raise(SIGUSR2);
  CHECK(run.step(trained(2), {.step = 2}).stop);
  CHECK(steps_in(store.inner) == (is_slow ? steps{2} : steps{1, 2}));
}
