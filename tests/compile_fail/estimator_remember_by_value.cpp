// SPDX-License-Identifier: MIT
// expect: an estimator with a memory has both .void remember\(cairn::policy_memory&\) const. and
#include <optional>

#include "cairn/schedule/estimator.hpp"

struct own_estimator {
  void observe(double, double) {}
  std::optional<cairn::loss_curve> curve() { return {}; }
  cairn::policy_memory remember() const { return {}; }
  void recall(const cairn::policy_memory&) {}
};

cairn::any_estimator chosen() { return own_estimator{}; }  // here
