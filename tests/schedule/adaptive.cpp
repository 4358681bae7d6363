// SPDX-License-Identifier: MIT
#include "cairn/schedule/adaptive.hpp"

#include "catch.hpp"
#include "schedule/driven_run.hpp"

using namespace cairn;
using namespace cairn::policies;
using std::chrono::duration;

namespace {

const cairn::mtbf_prior certain = cairn::known_mtbf(duration<double>(5000));

/// What saves cost in some run, by kind.
using tariff = std::map<save_kind, save_cost>;

/// A trainer whose codecs give every tenth save whole and deltas in between, if it has any.
struct run {
  adaptive policy;
  tariff costs;
  double slowdown = 0;  // of iterations beside a save
  double iteration = 0.1;
  double rare_stall = 0;  // of every tenth save; 0: as the others
  moment now{};
  double published_at = -1;
  save_cost running{};
  std::map<save_kind, int> saves{};
  std::vector<double> times{};
  double taken = 0;  // seconds

  save_kind kind_of(const decision& decided) {
    if (decided.kind == save_kind::raw) return save_kind::raw;
    const int configured = saves[save_kind::whole] + saves[save_kind::delta];
    if (decided.kind == save_kind::whole || !costs.contains(save_kind::delta) || configured % 10 == 0)
      return save_kind::whole;
    return save_kind::delta;
  }

  void go(int steps) {
    for (int i = 0; i < steps; ++i) {
      ++now.step;
      now.is_saving = published_at > now.seconds;
      now.iteration_seconds = now.is_saving ? iteration / (1 - slowdown) : iteration;
      taken += now.iteration_seconds - iteration;
      now.seconds += now.iteration_seconds;
      if (published_at >= 0 && published_at <= now.seconds) {
        published_at = -1;
        now.is_saving = false;
        policy.saved(running);
      }
      const auto decided = policy.should_save(now);
      if (!decided) continue;
      CHECK(published_at < 0);  // none is asked for while one runs
      const auto kind = kind_of(decided);
      ++saves[kind];
      times.push_back(now.seconds);
      running = costs.at(kind);
      running.step = now.step;
      running.kind = kind;
      if (rare_stall > 0 && times.size() % 10 == 0) running.stall_seconds = rare_stall;
      now.saved_step = now.step;
      now.seconds += running.stall_seconds;
      now.saved_seconds = now.seconds;
      taken += running.stall_seconds;
      published_at = now.seconds + running.background_seconds;
    }
  }
};

constexpr auto any_kind = cairn::policies::save_kinds::any;
constexpr double megabyte = 1e6;
constexpr auto bytes(double of) { return static_cast<std::uint64_t>(of); }

/// 100 MB, written at 200 MB a second, encoded at 400; the copy takes 10 ms.
const save_cost whole{.stall_seconds = 0.01,
                      .background_seconds = 0.65,
                      .encode_seconds = 0.25,
                      .write_seconds = 0.4,
                      .bytes = bytes(80 * megabyte),
                      .state_bytes = bytes(100 * megabyte)};
const save_cost raw{.stall_seconds = 0.01,
                    .background_seconds = 0.5,
                    .write_seconds = 0.5,
                    .bytes = bytes(100 * megabyte),
                    .state_bytes = bytes(100 * megabyte)};
const save_cost delta{.stall_seconds = 0.01,
                      .background_seconds = 0.3,
                      .encode_seconds = 0.25,
                      .write_seconds = 0.05,
                      .bytes = bytes(10 * megabyte),
                      .state_bytes = bytes(100 * megabyte)};

TEST_CASE("the first save comes soon, the others at Daly's interval for what they take") {
  run training{adaptive({.mtbf = certain, .kinds = any_kind}), {{save_kind::whole, whole}, {save_kind::raw, whole}}};
  training.go(20'000);
  REQUIRE(training.times.size() > 20);
  CHECK(training.times[0] == Approx(0.1 * cairn::schedule::probe_steps));
  CHECK(training.times[20] - training.times[19] == Approx(cairn::schedule::daly_interval(0.01, 5000)).epsilon(0.05));
}

TEST_CASE("the slowdown by a save counts for its price") {
  const auto count = [](double slowdown) {
    run training{
        adaptive({.mtbf = certain, .kinds = any_kind}), {{save_kind::whole, whole}, {save_kind::raw, whole}}, slowdown};
    training.go(20'000);
    return static_cast<double>(training.times.size());
  };
  // 0.01 s against 0.01 + 0.3 x 0.65 s
  CHECK(count(0) / count(0.3) == Approx(std::sqrt(0.205 / 0.01)).epsilon(0.1));
}

TEST_CASE(
    "the kind that takes least is taken: raw where encoding does not pay, deltas where they do, else as the codecs "
    "say") {
  const auto most_of = [](const tariff& costs) {
    run training{adaptive({.mtbf = certain, .kinds = any_kind}), costs, 0.3};
    training.go(50'000);
    int all = 0;
    save_kind most{};
    for (const auto& [kind, count] : training.saves) {
      all += count;
      if (count > training.saves[most]) most = kind;
    }
    CHECK(training.saves[most] > 0.8 * all);
    return most;
  };
  CHECK(most_of({{save_kind::whole, whole}, {save_kind::raw, raw}}) == save_kind::raw);
  CHECK(most_of({{save_kind::whole, whole}, {save_kind::raw, raw}, {save_kind::delta, delta}}) == save_kind::delta);
  auto slow_delta = delta;
  slow_delta.background_seconds = 3;
  auto quick = whole;
  quick.background_seconds = 0.4;
  quick.encode_seconds = 0;
  CHECK(most_of({{save_kind::whole, quick}, {save_kind::raw, raw}, {save_kind::delta, slow_delta}}) ==
        save_kind::whole);
}

TEST_CASE("a kind cannot be saved more often than one save can follow the other, which counts for its price") {
  auto slow = whole, quick = raw;
  slow.background_seconds = 100;  // longer than the best interval: 150 s of lost work per failure instead of 104
  slow.encode_seconds = 89;
  slow.write_seconds = 10;
  slow.bytes = slow.state_bytes;
  quick.stall_seconds = 7.2;  // costs as much as 120 s per failure
  run training{adaptive({.budget_percent = cairn::policies::no_budget,
                         .mtbf = cairn::known_mtbf(duration<double>(1000)),
                         .kinds = any_kind}),
               {{save_kind::whole, slow}, {save_kind::raw, quick}}};
  training.go(400'000);
  CHECK(training.saves[save_kind::raw] > 5 * training.saves[save_kind::whole]);
}

TEST_CASE(
    "files stay as small as the codecs make them, and as readable for other programs, unless raw saves are allowed") {
  run training{adaptive({.mtbf = certain}), {{save_kind::whole, whole}, {save_kind::raw, raw}}, 0.3};
  training.go(20'000);
  CHECK(training.saves[save_kind::raw] == 0);
  CHECK(training.saves[save_kind::whole] > 10);
}

TEST_CASE("deltas whose chain takes long to restore are not worth it where failures are many") {
  for (const bool is_slow : {true, false}) {
    run training{adaptive({.mtbf = certain}), {{save_kind::whole, whole}, {save_kind::delta, delta}}};
    training.policy.restarted({.restore_seconds = is_slow ? 1000.0 : 1.0, .links = 10, .after_failure = false});
    training.go(50'000);
    CHECK((training.saves[save_kind::delta] < training.saves[save_kind::whole]) == is_slow);
  }
}

TEST_CASE("a kind is not changed for a small gain") {
  auto near = whole;
  near.encode_seconds = 0.15;  // raw takes 0.48 seconds
  near.background_seconds = 0.53;
  run training{adaptive({.mtbf = certain, .kinds = any_kind}), {{save_kind::whole, near}, {save_kind::raw, raw}}, 0.3};
  training.go(50'000);
  CHECK(training.saves[save_kind::raw] == 0);
}

TEST_CASE("when encoding gets quick again it is noticed") {
  run training{adaptive({.mtbf = certain, .kinds = any_kind}), {{save_kind::whole, whole}, {save_kind::raw, raw}}, 0.3};
  training.go(50'000);
  REQUIRE(training.saves[save_kind::raw] > training.saves[save_kind::whole]);
  training.costs[save_kind::whole].encode_seconds = 0.01;
  training.costs[save_kind::whole].background_seconds = 0.1;
  training.costs[save_kind::whole].write_seconds = 0.09;
  training.go(300'000);
  training.saves.clear();
  training.go(50'000);
  CHECK(training.saves[save_kind::whole] > training.saves[save_kind::raw]);
}

TEST_CASE("saves take no more than the budget from the training, but for the first one") {
  for (const double percent : {0.5, 3.5, 20.0})
    for (const double mtbf : {1.0, 30.0, 5000.0}) {
      run training{
          adaptive({.budget_percent = percent, .mtbf = cairn::known_mtbf(duration<double>(mtbf)), .kinds = any_kind}),
          {{save_kind::whole, whole}, {save_kind::raw, raw}, {save_kind::delta, delta}},
          0.2,
          0.01};
      training.go(200'000);
      const double first = whole.stall_seconds + 0.25 * whole.background_seconds;
      CHECK(training.taken - first <= 1.05 * percent / 100 * training.now.seconds);
      CHECK(training.times.size() > 3);
    }
}

TEST_CASE("rare long stalls count in full for the budget") {
  auto quick = whole;
  quick.stall_seconds = 0.1;
  for (const double percent : {3.5, 20.0}) {
    run training{
        adaptive({.budget_percent = percent, .mtbf = cairn::known_mtbf(duration<double>(30)), .kinds = any_kind}),
        {{save_kind::whole, quick}, {save_kind::raw, quick}}};
    training.rare_stall = 10;
    training.go(1'000'000);
    CHECK(training.times.size() > 200);
    CHECK(training.taken <= 1.1 * percent / 100 * training.now.seconds);
    CHECK(training.taken >= 0.5 * percent / 100 * training.now.seconds);
  }
}

TEST_CASE("one save that takes very long costs the budget no more than an hour without saves") {
  run training{adaptive({.mtbf = cairn::known_mtbf(duration<double>(30)), .kinds = any_kind}),
               {{save_kind::whole, whole}, {save_kind::raw, whole}}};
  training.go(10'000);
  training.costs[save_kind::whole].stall_seconds = training.costs[save_kind::raw].stall_seconds = 1e6;
  const auto before = training.times.size();
  while (training.times.size() == before) training.go(1);
  training.costs[save_kind::whole] = training.costs[save_kind::raw] = whole;
  training.times.clear();
  const double end = training.now.seconds;
  training.go(10 * 36'000);
  REQUIRE(training.times.size() > 100);
  CHECK(training.times[60] - end < 2 * cairn::schedule::longest_interval);
}

TEST_CASE("the longest interval is an option: with a longer one the formula and the budget decide") {
  auto slow = whole;
  slow.stall_seconds = 200;
  const auto gap = [&](const adaptive_options& options) {
    run training{adaptive(options), {{save_kind::whole, slow}, {save_kind::raw, slow}}};
    training.iteration = 10;
    training.go(40'000);
    REQUIRE(training.times.size() > 20);
    return training.times[20] - training.times[19] - slow.stall_seconds;
  };
  const auto day = std::chrono::hours{24};
  const auto rare = cairn::known_mtbf(duration<double>(1e5)), frequent = cairn::known_mtbf(duration<double>(1e4));
  const double daly = cairn::schedule::daly_interval(200, 1e5), affordable = 200 / 0.035;
  REQUIRE(daly > affordable);
  REQUIRE(affordable > cairn::schedule::longest_interval);
  for (const auto kinds : {any_kind, cairn::policies::save_kinds::configured}) {
    CHECK(gap({.longest_interval = day, .mtbf = rare, .kinds = kinds}) == Approx(daly).margin(15));
    CHECK(gap({.longest_interval = day, .mtbf = frequent, .kinds = kinds}) == Approx(affordable).margin(15));
    CHECK(gap({.longest_interval = duration<double>(std::numeric_limits<double>::infinity()),
               .mtbf = rare,
               .kinds = kinds}) == Approx(daly).margin(15));
    CHECK(gap({.longest_interval = std::chrono::minutes{50}, .mtbf = rare, .kinds = kinds}) == Approx(3000).margin(15));
    for (const double none : {0.0, -1.0, std::nan("")})
      CHECK(gap({.longest_interval = duration<double>(none), .mtbf = rare, .kinds = kinds}) ==
            Approx(cairn::schedule::longest_interval).margin(15));
    CHECK(gap({.mtbf = rare, .kinds = kinds}) == Approx(cairn::schedule::longest_interval).margin(15));
  }
}

TEST_CASE("a budget of zero leaves the first save and one per longest interval") {
  for (const double percent : {0.0, -1.0, std::nan("")}) {
    run training{adaptive({.budget_percent = percent, .mtbf = certain, .kinds = any_kind}),
                 {{save_kind::whole, whole}, {save_kind::raw, raw}}};
    training.go(110'000);
    CHECK(training.times.size() == 4);
  }
}

TEST_CASE("what it has learned is there again after a restart, in another process") {
  run before{adaptive({.mtbf = certain, .kinds = any_kind}), {{save_kind::whole, whole}, {save_kind::raw, raw}}, 0.3};
  before.go(20'000);
  run after{adaptive({.mtbf = certain, .kinds = any_kind}), before.costs, 0.3};
  after.policy.recall(before.policy.remember());
  after.policy.restarted({.step = 20'000});
  after.now = {.step = 20'000, .saved_step = 20'000};
  after.go(20'000);
  CHECK(after.saves[save_kind::raw] > after.saves[save_kind::whole]);
  CHECK(after.times.front() > 2 * 0.1 * cairn::schedule::probe_steps);
}

constexpr double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("invalid clocks, losses and costs: no step saved twice, no hour without a checkpoint") {
  std::mt19937 random(9);
  for (const auto kinds : {cairn::policies::save_kinds::no_raw, cairn::policies::save_kinds::configured})
    for (const double percent : {0.0, 3.5, 100.0, infinite})
      for (const double mtbf : {0.0, 1e-3, 1e4, infinite, none})
        for (const double cost : {-1.0, 0.0, 1.0, 1e6, infinite, none})
          CHECK(driven::saves_of_invalid_run(adaptive({.budget_percent = percent,
                                                       .mtbf = {duration<double>(mtbf), random() % 2 ? 0 : 1.5},
                                                       .kinds = kinds}),
                                             cost, random) >= 4);
}

namespace choosing_when {

namespace {

/// The policy that only chooses when: no budget, and always as the codecs say.
adaptive optimal(adaptive_options options = {}) {
  options.budget_percent = cairn::policies::no_budget;
  options.kinds = cairn::policies::save_kinds::configured;
  return adaptive(std::move(options));
}

const cairn::mtbf_prior certain = cairn::known_mtbf(duration<double>(5000));

/// Saves of a run in which every save takes `stall` seconds, an iteration one.
struct run {
  adaptive policy;
  double stall = 0.2;
  cairn::save_kind kind = cairn::save_kind::whole;
  moment now{};
  std::vector<std::uint64_t> saves{};

  void go(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      ++now.step;
      now.seconds += now.iteration_seconds = 1;
      if (!policy.should_save(now)) continue;
      saves.push_back(now.step);
      now.saved_step = now.step;
      now.saved_seconds = now.seconds;
      now.seconds += stall;
      policy.saved({.step = now.step, .kind = kind, .stall_seconds = stall});
    }
  }
};

}  // namespace

TEST_CASE("a stall that is told needs no probe") {
  run machine{optimal({.mtbf = certain, .stall = duration<double>(0.2)})};
  machine.go(100);
  REQUIRE_FALSE(machine.saves.empty());
  CHECK(machine.saves[0] > 30);
}

TEST_CASE("a restore in the same process: the next save is due a whole interval later") {
  adaptive policy({.mtbf = certain, .stall = std::chrono::duration<double>(1)});
  moment now;
  const auto next_save = [&] {
    do {
      ++now.step;
      now.seconds += now.iteration_seconds = 1;
    } while (!policy.should_save(now));
    return now.step;
  };
  const auto first = next_save();
  now.saved_step = first;
  now.saved_seconds = now.seconds;
  const auto interval = next_save() - first;
  REQUIRE(interval > 20);
  policy.restarted({.step = first, .after_failure = false});
  now = {.step = first, .saved_step = first};
  CHECK(next_save() == first + interval);
}

TEST_CASE("failures make it save more often") {
  const auto count = [](int failures) {
    run machine{optimal()};
    for (int i = 0; i < failures; ++i) machine.policy.restarted({.after_failure = true, .away_seconds = 100});
    machine.go(2000);
    return machine.saves.size();
  };
  CHECK(count(5) > 2 * count(0));
}

TEST_CASE("a policy that chooses no kind learns from saves of every kind") {
  run machine{optimal({.mtbf = certain})};
  machine.kind = cairn::save_kind::raw;
  machine.go(2000);
  REQUIRE(machine.saves.size() > 20);
  const double even = cairn::schedule::daly_interval(0.2, 5000);
  CHECK(std::abs(static_cast<double>(machine.saves[9] - machine.saves[8]) - even) <= 1);
}

}  // namespace choosing_when
