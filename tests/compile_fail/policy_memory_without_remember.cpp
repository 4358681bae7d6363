// SPDX-License-Identifier: MIT
// expect: a policy with a memory has both
#include "cairn/schedule/base.hpp"

struct own_policy {
  bool should_save(const cairn::moment&) { return true; }
  void recall(const cairn::policy_memory&) {}
};

cairn::any_policy chosen() { return own_policy{}; }  // here
