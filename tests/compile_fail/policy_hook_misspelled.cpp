// SPDX-License-Identifier: MIT
// expect: saves are reported to a policy by .void saved\(const cairn::save_cost&\)
// expect: restarts are reported to a policy by .void restarted\(const cairn::restart&\)
// expect: what a policy knows is asked for by .cairn::policy_memory remember\(\) const
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
struct remembers : own_policy {
  cairn::policy_memory remeber() const { return {}; }
};
struct recalls : own_policy {
  void recal(const cairn::policy_memory&) {}
};

cairn::any_policy first() { return saves{}; }      // here
cairn::any_policy second() { return restarts{}; }  // here
cairn::any_policy third() { return remembers{}; }  // here
cairn::any_policy fourth() { return recalls{}; }   // here
