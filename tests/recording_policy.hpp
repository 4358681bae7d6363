// SPDX-License-Identifier: MIT
// A policy that writes down all that it is told, and decides as a test says.
#pragma once

#include "cairn/schedule/base.hpp"
#include "standard.hpp"

namespace tests {

/// What the copies of one policy were told, in order.
struct told {
  std::vector<std::string> order;
  std::vector<cairn::moment> asked;
  std::vector<cairn::save_cost> saved;
  std::vector<cairn::restart> restarted;
  std::vector<cairn::policy_memory> recalled;
};

struct recording_policy {
  std::function<cairn::decision(const cairn::moment&)> decides = [](const cairn::moment&) { return false; };
  std::function<cairn::policy_memory()> remembers = [] { return cairn::policy_memory{}; };
  std::shared_ptr<told> log = std::make_shared<told>();

  [[nodiscard]] cairn::decision should_save(const cairn::moment& now) const {
    log->order.emplace_back("asked");
    log->asked.push_back(now);
    return decides(now);
  }
  void saved(const cairn::save_cost& cost) const {
    log->order.emplace_back("saved");
    log->saved.push_back(cost);
  }
  void restarted(const cairn::restart& how) const {
    log->order.emplace_back("restarted");
    log->restarted.push_back(how);
  }
  [[nodiscard]] cairn::policy_memory remember() const { return remembers(); }
  void recall(const cairn::policy_memory& kept) const {
    log->order.emplace_back("recalled");
    log->recalled.push_back(kept);
  }
};

}  // namespace tests
