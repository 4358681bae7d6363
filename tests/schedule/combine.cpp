// SPDX-License-Identifier: MIT
#include "cairn/schedule/policies.hpp"
#include "cairn/schedule/every.hpp"

#include "cairn/schedule/even_intervals.hpp"
#include "catch.hpp"
#include "driven_run.hpp"
#include "store/sample.hpp"

namespace {

using namespace cairn;
using namespace cairn::policies;
using std::chrono::seconds;
using steps = std::vector<std::uint64_t>;

/// Asks at the multiples of some steps for a kind, and counts what it is told.
struct counting {
  std::uint64_t period = 1;
  std::optional<save_kind> kind{};
  double saves = 0, restarts = 0, asked = 0;

  decision should_save(const cairn::moment& now) {
    asked += 1;
    return {now.step % period == 0, kind};
  }
  void saved(const cairn::save_cost&) { saves += 1; }
  void restarted(const cairn::restart&) { restarts += 1; }
  cairn::policy_memory remember() const { return {{"counted", {saves, restarts, asked}}}; }
  void recall(const cairn::policy_memory& memory) {
    if (!memory.contains("counted")) return;
    saves = memory.at("counted")[0];
    restarts = memory.at("counted")[1];
    asked = memory.at("counted")[2];
  }
};

static_assert(cairn::policy<any_of>);

TEST_CASE("any_of: nothing that is observed trips it") {
  driven::survives(any_of{young(), every_steps{100}});
  driven::survives(any_of{young(), any_of{young()}});
}

TEST_CASE("any_of saves when one of its policies does") {
  any_of policy{every_steps{6}, every_steps{10}, every{seconds{25}}};
  driven::run run;
  CHECK(run.steps(policy, 100).saves ==
        steps{6, 10, 12, 18, 20, 24, 30, 36, 40, 42, 48, 50, 54, 60, 66, 70, 72, 78, 80, 84, 90, 96, 100});
  any_of none{};
  CHECK_FALSE(none.should_save({.step = 7}).save);
}

TEST_CASE("any_of takes the kind of the first policy that saves and asks for one") {
  any_of policy{counting{2}, counting{3, save_kind::raw}, counting{5, save_kind::delta}};
  const auto at = [&](std::uint64_t step) { return policy.should_save({.step = step}); };
  CHECK(at(2).save);
  CHECK_FALSE(at(2).kind);
  CHECK(at(3).kind == save_kind::raw);
  CHECK(at(10).kind == save_kind::delta);
  CHECK(at(30).kind == save_kind::raw);
  CHECK_FALSE(at(7).save);
  CHECK_FALSE(at(7).kind);
}

TEST_CASE("any_of asks and tells all, and keeps apart what they remember") {
  any_of policy{counting{2}, counting{3}};
  (void)policy.should_save({.step = 2});
  policy.saved({});
  policy.restarted({});
  policy.saved({});
  CHECK(policy.remember() == cairn::policy_memory{{"0.counted", {2, 1, 1}}, {"1.counted", {2, 1, 1}}});
  any_of restored{counting{2}, counting{3}, any_of{counting{5}}};
  restored.recall(
      {{"0.counted", {1, 2, 3}}, {"1.counted", {4, 5, 6}}, {"2.0.counted", {7, 8, 9}}, {"counted", {0, 0, 0}}});
  CHECK(restored.remember() ==
        cairn::policy_memory{{"0.counted", {1, 2, 3}}, {"1.counted", {4, 5, 6}}, {"2.0.counted", {7, 8, 9}}});
}

TEST_CASE("no step is saved twice, even where a policy asks for that") {
  const cairn::moment again{.step = 100, .seconds = 100, .saved_step = 100, .saved_seconds = 100};
  CHECK_FALSE(any_of{counting{}}.should_save(again).save);
}

TEST_CASE("the default policy is the adaptive one: it saves soon, and remembers what that cost") {
  auto policy = cairn::default_policy();
  cairn::moment now;
  for (now.step = 1; now.step < cairn::schedule::probe_steps; ++now.step) {
    now.seconds += now.iteration_seconds = 1;
    CHECK_FALSE(policy.should_save(now));
  }
  now.seconds += now.iteration_seconds = 1;
  CHECK(policy.should_save(now));
  policy.saved({.step = now.step, .stall_seconds = 0.5});
  CHECK(policy.remember().contains("whole.stall"));
}

/// The steps after which `policy` saves, asked after each of `some`; a second passes per step.
template <class Policy>
std::vector<std::uint64_t> saves(Policy policy, const std::vector<std::uint64_t>& some, std::uint64_t begun_at = 0) {
  std::vector<std::uint64_t> saved;
  cairn::moment now{.saved_step = begun_at};
  for (const auto step : some) {
    now.step = step;
    now.seconds = static_cast<double>(step - begun_at);
    if (!policy.should_save(now)) continue;
    saved.push_back(step);
    now.saved_step = now.step;
    now.saved_seconds = now.seconds;
  }
  return saved;
}

}  // namespace

TEST_CASE("every n steps: at the multiples") {
  CHECK(saves(every_steps{3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == steps{3, 6, 9});
  CHECK(saves(every_steps{1}, {0, 1, 2, 3}) == steps{1, 2, 3});
  CHECK(saves(every_steps{100}, {1, 50, 99}).empty());
}

TEST_CASE("every n steps: the same steps after a restore in between") {
  CHECK(saves(every_steps{10}, {14, 15, 19, 20, 21, 30}, 13) == steps{20, 30});
  CHECK(saves(every_steps{10}, {21, 29, 30}, 20) == steps{30});
}

TEST_CASE("every n steps: where the count jumps over a multiple, at the next step") {
  CHECK(saves(every_steps{10}, {8, 13, 17, 19, 41, 42, 50}) == steps{13, 41, 50});
}

TEST_CASE("every n steps: asked again for the step that it saved, it does not save twice") {
  CHECK(saves(every_steps{5}, {5, 5, 5, 10, 10}) == steps{5, 10});
}

TEST_CASE("every 0 steps is never") { CHECK(saves(every_steps{0}, {0, 1, 2, 1000}).empty()); }

TEST_CASE("every period: when it has passed since the last save") {
  CHECK(saves(every{seconds{3}}, {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14}) == steps{3, 6, 11, 14});
  CHECK(saves(every{seconds{3}}, {101, 102, 103, 104}, 100) == steps{103});
  CHECK(saves(every{std::chrono::minutes{1}}, {1, 59}).empty());
  CHECK(saves(every{std::chrono::milliseconds{2500}}, {2, 3, 5, 6}) == steps{3, 6});
}

TEST_CASE("every period: no second checkpoint of one step") {
  const cairn::moment now{.step = 7, .seconds = 1000, .saved_step = 7, .saved_seconds = 1, .loss = {}};
  CHECK_FALSE(every{seconds{3}}.should_save(now));
  CHECK(saves(every{std::chrono::milliseconds{1}}, {1, 1, 2, 3, 3}) == steps{1, 2, 3});
}

TEST_CASE("every period: one that is not above 0 is refused") {
  using period = std::chrono::duration<double>;
  const double no_number = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  for (const double wrong : {0.0, -0.0, -1.0, -infinite, no_number}) {
    const auto failure = sample::failure_of([&] { static_cast<void>(every{period{wrong}}); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("the period of policies::every is "));
    CHECK(failure.says(", not above 0"));
  }
  CHECK(saves(every{period{infinite}}, {1, 2, 1000}).empty());
}
