// SPDX-License-Identifier: MIT
// expect: without a name in C
// expect: "all\.\*: kind"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

enum class kind { relu, tanh };
template <>
struct cairn::by_name<kind> : cairn::enumerators<kind::relu, kind{5}> {};
struct state {
  std::vector<kind> all;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
