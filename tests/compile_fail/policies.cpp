// SPDX-License-Identifier: MIT
#include <optional>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/estimator.hpp"

struct policy {
  bool should_save(const cairn::moment&) { return true; }
};
class private_saved : public policy {
  void saved(const cairn::save_cost&) {}
};
struct saved_argument : policy {
  void saved(cairn::save_cost&) {}
};
struct restarted_argument : policy {
  void restarted() {}
};

// expect: the policy.s .saved. is not callable as .void saved\(const cairn::save_cost&\)
cairn::any_policy make(private_saved p) { return p; }   // here private_saved
cairn::any_policy make(saved_argument p) { return p; }  // here saved_argument
// expect: the policy.s .restarted. is not callable as .void restarted\(const cairn::restart&\)
cairn::any_policy make(restarted_argument p) { return p; }  // here restarted_argument

struct remember_not_const : policy {
  cairn::policy_memory remember() { return {}; }
  void recall(const cairn::policy_memory&) {}
};
struct without_recall : policy {
  cairn::policy_memory remember() const { return {}; }
};
struct without_remember : policy {
  void recall(const cairn::policy_memory&) {}
};

// expect: a policy with a memory has both .cairn::policy_memory remember\(\) const. and
cairn::any_policy make(remember_not_const p) { return p; }  // here remember_not_const
cairn::any_policy make(without_recall p) { return p; }      // here without_recall
cairn::any_policy make(without_remember p) { return p; }    // here without_remember

struct remember_by_value {
  void observe(double, double) {}
  std::optional<cairn::loss_curve> curve() { return {}; }
  cairn::policy_memory remember() const { return {}; }
  void recall(const cairn::policy_memory&) {}
};

// expect: an estimator with a memory has both .void remember\(cairn::policy_memory&\) const. and
cairn::any_estimator make(remember_by_value e) { return e; }  // here remember_by_value
