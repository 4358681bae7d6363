// SPDX-License-Identifier: MIT
// expect: a policy with a memory has both .cairn::policy_memory remember\(\) const. and
#include "cairn/schedule/base.hpp"

struct own_policy {
  bool should_save(const cairn::moment&) { return true; }
  cairn::policy_memory remember() { return {}; }
  void recall(const cairn::policy_memory&) {}
};

cairn::any_policy chosen() { return own_policy{}; }  // here
