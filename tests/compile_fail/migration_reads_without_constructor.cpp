// SPDX-License-Identifier: MIT
// expect: stored_parts::get makes the value that it returns
// expect: use `load` into an object that exists
// lines: 15 there is one error
#include "cairn/state/describe.hpp"

struct rate {
  explicit rate(float initial) : value(initial) {}
  float value;
  static auto cairn_fields() { return cairn::fields<&rate::value>{}; }
};

struct state {
  float first = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "first">;
  void cairn_migrate(cairn::stored_parts& old) { first = old.get<rate>("rate").value; }  // here
};

void check(state& s) { (void)cairn::detail::describe(s); }
