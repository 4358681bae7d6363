// SPDX-License-Identifier: MIT
// Policies that contain others: any of several, and a bound on the overhead of one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/observed_run.hpp"

namespace cairn::inline v0_1::schedule {

/// Adds what an inner policy remembers, with `prefix` before each name.
inline void remember_as(const std::string& prefix, const any_policy& inner, policy_memory& memory) {
  for (auto& [name, values] : inner.remember()) memory[prefix + name] = values;
}
inline void recall_as(const std::string& prefix, any_policy& inner, const policy_memory& memory) {
  policy_memory part;
  for (const auto& [name, values] : memory)
    if (name.starts_with(prefix)) part[name.substr(prefix.size())] = values;
  inner.recall(part);
}

}  // namespace cairn::inline v0_1::schedule

namespace cairn::inline v0_1::policies {

/// Saves when one of several policies does, as the kind that the first of these asks for, but no step twice. Each is asked at every step,
/// and all saves and restarts are reported to each. They remember by their position in the list: append only.
class any_of {
 public:
  any_of(std::initializer_list<any_policy> several) : several_(several) {}

  [[nodiscard]] decision should_save(const moment& now) {
    decision all = false;
    for (auto& one : several_) {
      const auto answer = one.should_save(now);
      if (!answer || now.step <= now.saved_step) continue;
      all.save = true;
      if (!all.kind) all.kind = answer.kind;
    }
    return all;
  }
  void saved(const save_cost& cost) {
    for (auto& one : several_) one.saved(cost);
  }
  void restarted(const restart& how) {
    for (auto& one : several_) one.restarted(how);
  }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    for (std::size_t i = 0; i < several_.size(); ++i)
      schedule::remember_as(std::to_string(i) + '.', several_[i], memory);
    return memory;
  }
  void recall(const policy_memory& memory) {
    for (std::size_t i = 0; i < several_.size(); ++i) schedule::recall_as(std::to_string(i) + '.', several_[i], memory);
  }

 private:
  std::vector<any_policy> several_;
};

/// The part of a run's time that saves may take.
struct overhead_budget {
  double percent = 3.5;  ///< of the run's time that saves may take; not positive: 0
};

/// Allows a save of the inner policy only where the saves of the run, including this one, take at most their part of the time trained. A
/// run's first save is always allowed, and so is any after `longest_interval` without one. Both totals are kept across restarts. A save
/// counts for its stall and its slowdown; the next one is expected to be like the mean of those before. Until the first cost is reported,
/// the number of steps doubles from save to save. The inner policy must continue to ask after a refusal, as those of this library do.
/// O(1) per step, and what the inner policy takes.
class bounded_overhead {
 public:
  bounded_overhead(const overhead_budget& budget, any_policy inner)
      : part_(budget.percent > 0 ? budget.percent / 100 : 0), inner_(std::move(inner)) {}

  [[nodiscard]] decision should_save(const moment& now) {
    trained_ += run_.observe(now);
    const auto answer = inner_.should_save(now);
    return answer && is_affordable(now) ? answer : decision(false);
  }
  void saved(const save_cost& cost) {
    run_.saved(cost);
    const double slowed = run_.iterations().slowdown() * cost.background_seconds;
    for (const double seconds : {cost.stall_seconds, slowed})
      if (seconds > 0 && cairn::detail::is_finite(seconds)) spent_ += seconds;
    inner_.saved(cost);
  }
  void restarted(const restart& how) { inner_.restarted(how); }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    memory["overhead"] = {spent_, trained_};
    schedule::remember_as("inner.", inner_, memory);
    return memory;
  }
  void recall(const policy_memory& memory) {
    run_.recall(memory);
    const auto kept = memory.find("overhead");
    if (kept != memory.end() && kept->second.size() == 2 && kept->second[0] >= 0 && kept->second[1] >= 0 &&
        cairn::detail::is_finite(kept->second[0] + kept->second[1])) {
      spent_ = kept->second[0];
      trained_ = kept->second[1];
    }
    schedule::recall_as("inner.", inner_, memory);
  }

 private:
  [[nodiscard]] bool is_affordable(const moment& now) const noexcept {
    const auto next = run_.save_seconds();
    if (!next) return run_.is_probe_due(1);
    if (now.step <= now.saved_step) return false;
    return run_.since_save() >= schedule::longest_interval || spent_ + *next <= part_ * trained_;
  }

  double part_;
  any_policy inner_;
  schedule::observed_run run_;
  double spent_ = 0, trained_ = 0;  // seconds
};

}  // namespace cairn::inline v0_1::policies
