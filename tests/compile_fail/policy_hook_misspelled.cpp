// SPDX-License-Identifier: MIT
// expect: saves are reported to a policy by .void saved\(const cairn::save_cost&\)
// expect: restarts are reported to a policy by .void restarted\(const cairn::restart&\)
// expect: a policy gets back what it knew by .void recall\(const cairn::policy_memory&\)
#include "cairn/schedule/base.hpp"

struct own_policy {
  bool should_save(const cairn::moment&) { return true; }
};
struct saves : own_policy {
  void on_saved(const cairn::save_cost&) {}
};
struct restarts : own_policy {
  void on_restart(const cairn::restart&) {}
};
struct forgets : own_policy {
  void recalls(const cairn::policy_memory&) {}
};

cairn::any_policy first() { return saves{}; }      // here
cairn::any_policy second() { return restarts{}; }  // here
cairn::any_policy third() { return forgets{}; }    // here
