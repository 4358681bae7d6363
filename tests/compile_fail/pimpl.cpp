// SPDX-License-Identifier: MIT
// expect: a pointer to an incomplete type: include its definition
// expect: "hidden: std::unique_ptr<model::.*implementation>"
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

class model {
 public:
  model();
  ~model();
  static auto cairn_fields() { return cairn::fields<&model::hidden_>{}; }

 private:
  struct implementation;
  std::unique_ptr<implementation> hidden_;
};

void check(model& m) { (void)cairn::detail::describe(m); }  // here
