// SPDX-License-Identifier: MIT
// expect: the policy.s .restarted. is not callable as .void restarted\(const cairn::restart&\)
#include "cairn/schedule/base.hpp"

struct own_policy {
  bool should_save(const cairn::moment&) { return true; }
  void restarted() {}
};

cairn::any_policy chosen() { return own_policy{}; }  // here
