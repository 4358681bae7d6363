// SPDX-License-Identifier: MIT
// expect: cairn::enumerators<
// expect: "phase: kind"
#include "cairn/state/describe.hpp"

enum class kind { a, b };
template <>
struct cairn::by_name<kind> {};
struct state {
  kind phase = kind::a;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
