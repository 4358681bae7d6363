// SPDX-License-Identifier: MIT
// expect: lists a value or a name twice
// expect: "one: kind"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

enum class kind { relu, tanh };
template <>
struct cairn::by_name<kind> : cairn::enumerators<kind::relu, kind::relu> {};
struct state {
  kind one{};
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
