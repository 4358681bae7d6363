// SPDX-License-Identifier: MIT
// expect: have the same path
// expect: "a: member x of derived"
// expect: "b: member a of underscore"
// expect: "c: member base of container"
#include <optional>
#include <vector>

#include "cairn/state/describe.hpp"

struct base {
  int x = 0;
};
struct derived : base {
  int x = 0;
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&derived::x>{}; }
};
struct underscore {
  int a = 0, a_ = 0;
  static auto cairn_fields() { return cairn::fields<&underscore::a, &underscore::a_>{}; }
};
struct container : std::vector<int> {
  int base = 0;
  using cairn_bases = cairn::bases<std::vector<int>>;
  static auto cairn_fields() { return cairn::fields<&container::base>{}; }
};
struct first {
  std::optional<derived> a;
};
struct second {
  std::optional<underscore> b;
};
struct third {
  std::optional<container> c;
};

void check(const first& s) { (void)cairn::detail::describe(s); }   // here
void check(const second& s) { (void)cairn::detail::describe(s); }  // here
void check(const third& s) { (void)cairn::detail::describe(s); }   // here
