// SPDX-License-Identifier: MIT
// All policies. COCI's rule also needs an estimator: cairn/schedule/fits/estimators.hpp.
// any_of, which joins several, is here.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/checkfreq.hpp"
#include "cairn/schedule/coci.hpp"
#include "cairn/schedule/even_intervals.hpp"
#include "cairn/schedule/every.hpp"

namespace cairn::inline v0_1::policies {

/// Saves when one of its policies does, as the kind the first of these asks for, but no step twice. Each is asked at
/// every step, and hears of all saves and restarts. They remember by their position in the list: append only.
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
      for (auto& [name, values] : several_[i].remember()) memory[std::to_string(i) + '.' + name] = values;
    return memory;
  }
  void recall(const policy_memory& memory) {
    for (std::size_t i = 0; i < several_.size(); ++i) {
      const auto prefix = std::to_string(i) + '.';
      policy_memory part;
      for (const auto& [name, values] : memory)
        if (name.starts_with(prefix)) part[name.substr(prefix.size())] = values;
      several_[i].recall(part);
    }
  }

 private:
  std::vector<any_policy> several_;
};

}  // namespace cairn::inline v0_1::policies
