// SPDX-License-Identifier: MIT
// expect: replaces an object behind a pointer to const, so its type needs a default constructor
// expect: "first: std::shared_ptr<const scale>"
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

class scale {
 public:
  explicit scale(int by) : by_(by) {}
  static auto cairn_fields() { return cairn::fields<&scale::by_>{}; }

 private:
  int by_;
};
struct state {
  std::shared_ptr<const scale> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
