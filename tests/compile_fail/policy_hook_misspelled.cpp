// expect: saves are reported to a policy by .void saved\(const cairn::save_cost&\)
#include "cairn/schedule/base.hpp"

struct own_policy {
  bool should_save(const cairn::moment&) { return true; }
  void on_saved(const cairn::save_cost&) {}
};

cairn::any_policy chosen() { return own_policy{}; }
