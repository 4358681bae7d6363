// SPDX-License-Identifier: MIT
// A run driven by hand: what a policy sees of it, and where it saves.
#pragma once

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "catch.hpp"

namespace driven {

/// A run without failures in which every save takes the same.
struct run {
  double iteration = 1;  ///< seconds
  cairn::save_cost cost{};
  double workers = 1;
  bool is_told = true;  ///< the policy, what saves cost
  cairn::moment now{};
  std::vector<std::uint64_t> saves{};

  /// One more step. True: the policy saves.
  template <class Policy>
  bool step(Policy& policy, std::optional<double> loss = std::nullopt) {
    now.step += 1;
    now.seconds += iteration;
    now.iteration_seconds = iteration;
    now.workers = workers;
    now.loss = loss;
    if (!cairn::decision(policy.should_save(now)).save) return false;
    saves.push_back(now.step);
    now.seconds += cost.stall_seconds;
    now.saved_step = now.step;
    now.saved_seconds = now.seconds;
    cost.step = now.step;
    if constexpr (requires { policy.saved(cost); })
      if (is_told) policy.saved(cost);
    return true;
  }

  template <class Policy>
  run& steps(Policy& policy, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) step(policy);
    return *this;
  }

  /// From the save before the last one to that, in steps.
  [[nodiscard]] std::uint64_t newest_gap() const {
    return saves.size() < 2 ? 0 : saves[saves.size() - 1] - saves[saves.size() - 2];
  }
};

/// What no run should be like: clocks that stand still, jump or step back, losses, costs, iteration times and workers
/// that are no sensible numbers.
class nasty_run {
 public:
  explicit nasty_run(unsigned seed) : random_(seed) {
    clock_ = static_cast<clocks>(pick(4));
    iteration_ = std::pow(10.0, real(-3, 3));
    has_no_iteration_times_ = clock_ == clocks::right && pick(3) == 0;
  }

  const cairn::moment& next() {
    const double worked = iteration_ * real(0.5, 2);
    const bool is_told = !has_no_iteration_times_ && pick(20) != 0;
    if (is_told || (clock_ == clocks::right && now_.step > now_.saved_step)) certain_ += worked;
    seconds_ += worked;
    now_.step += 1 + (pick(50) == 0 ? pick(1000) : 0);
    now_.iteration_seconds = is_told ? worked : strange();
    if (clock_ == clocks::right) now_.seconds = seconds_;
    if (clock_ == clocks::jumps && pick(100) == 0) now_.seconds += std::pow(10.0, real(0, 12));
    if (clock_ == clocks::steps_back) now_.seconds = seconds_ * (pick(50) == 0 ? real(-1, 1) : 1);
    if (clock_ == clocks::wild) now_.seconds = pick(10) == 0 ? strange() : seconds_;
    now_.loss.reset();
    if (pick(10) != 0) now_.loss = pick(10) == 0 ? strange() : 1 / (1 + seconds_) + real(-0.1, 0.1);
    if (pick(100) == 0) now_.workers = pick(3) == 0 ? strange() : static_cast<double>(1 + pick(64));
    now_.is_saving = pick(10) == 0;
    return now_;
  }

  /// The newest step is saved.
  cairn::save_cost save() {
    now_.saved_step = now_.step;
    now_.saved_seconds = pick(10) == 0 ? strange() : now_.seconds;
    certain_ = 0;
    const auto seconds = [&] { return pick(3) == 0 ? strange() : std::pow(10.0, real(-6, 3)); };
    return {.step = now_.step,
            .kind = static_cast<cairn::save_kind>(pick(3)),
            .stall_seconds = seconds(),
            .background_seconds = seconds(),
            .encode_seconds = seconds(),
            .write_seconds = seconds(),
            .bytes = random_(),
            .state_bytes = random_()};
  }

  double strange() {
    using limits = std::numeric_limits<double>;
    constexpr double all[] = {0,
                              -0.0,
                              -1,
                              limits::quiet_NaN(),
                              limits::infinity(),
                              -limits::infinity(),
                              limits::max(),
                              limits::denorm_min(),
                              -1e300};
    return all[pick(std::size(all))];
  }
  std::size_t pick(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }

  [[nodiscard]] const cairn::moment& now() const { return now_; }
  /// Seconds of work since the newest save that anybody could know of.
  [[nodiscard]] double certain() const { return certain_; }
  [[nodiscard]] double iteration() const { return 2 * iteration_; }

 private:
  enum class clocks { right, jumps, steps_back, wild };

  std::mt19937_64 random_;
  cairn::moment now_{};
  clocks clock_{};
  bool has_no_iteration_times_ = false;
  double iteration_ = 1, seconds_ = 0, certain_ = 0;
};

/// Runs that no policy should trip over: it saves no step twice, asks for a save at the latest when `longest_interval`
/// has passed, remembers numbers, and recalls whatever it is given.
inline void survives(const cairn::any_policy& fresh, unsigned runs = 60) {
  for (unsigned seed = 0; seed < runs; ++seed) {
    INFO("seed " << seed);
    nasty_run run(seed);
    auto policy = fresh;
    bool is_asked_again = false, is_late = false, is_no_number = false;
    for (int i = 0; i < 1500; ++i) {
      const auto& now = run.next();
      const auto answer = policy.should_save(now);
      is_late = is_late || (!answer.save && run.certain() >= cairn::schedule::longest_interval + run.iteration());
      if (answer.save && run.pick(5) != 0) {  // else it is skipped
        const auto cost = run.save();
        is_asked_again = is_asked_again || policy.should_save(run.now()).save;
        if (run.pick(5) != 0) policy.saved(cost);  // else it fails
      }
      if (run.pick(300) != 0) continue;
      auto memory = policy.remember();
      for (auto& [name, values] : memory)
        for (auto& value : values) {
          is_no_number = is_no_number || std::isnan(value);
          if (run.pick(10) == 0) value = run.strange();
        }
      if (!memory.empty() && run.pick(2) == 0) memory.begin()->second.resize(run.pick(4));
      policy = fresh;
      policy.recall(memory);
      run.save();
      policy.restarted({.step = run.now().step, .restore_seconds = run.strange(), .after_failure = run.pick(2) == 0});
    }
    CHECK_FALSE(is_asked_again);
    CHECK_FALSE(is_late);
    CHECK_FALSE(is_no_number);
  }
}

/// Lets a policy decide 1,500 steps of 10 seconds with invalid losses and clocks, where each save costs `cost`. Checks
/// that no step is saved twice and that no hour is without a checkpoint. Returns the number of saves.
template <class Policy>
int saves_of_invalid_run(Policy policy, double cost, std::mt19937& random) {
  constexpr double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  cairn::moment now;
  double clock = 0, saved_at = 0;
  int saves = 0;
  for (now.step = 1; now.step <= 1500; ++now.step) {
    const double losses[] = {1, none, infinite, -infinite, 5.0 * static_cast<double>(now.step), 0, 1e300};
    now.loss = losses[random() % 7];
    clock += now.iteration_seconds = 10;
    now.seconds = random() % 50 == 0 ? clock - 100 : clock;
    if (clock - saved_at > 3700) FAIL("no checkpoint for " << clock - saved_at << " seconds");
    const cairn::decision decided = policy.should_save(now);
    if (!decided) continue;
    ++saves;
    CHECK(now.saved_step < now.step);
    now.saved_step = now.step;
    now.saved_seconds = now.seconds;
    saved_at = clock;
    CHECK_FALSE(policy.should_save(now));
    policy.saved({.step = now.step,
                  .kind = decided.kind.value_or(cairn::save_kind::delta),
                  .stall_seconds = cost,
                  .background_seconds = cost,
                  .write_seconds = cost,
                  .bytes = 1});
  }
  return saves;
}

}  // namespace driven
