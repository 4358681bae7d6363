// SPDX-License-Identifier: MIT
// expect: the policy.s .saved. is not callable
#include "cairn/schedule/base.hpp"

struct own_policy {
  bool should_save(const cairn::moment&) { return true; }

 private:
  void saved(const cairn::save_cost&) {}
};

cairn::any_policy chosen() { return own_policy{}; }  // here
