// SPDX-License-Identifier: MIT
// expect: a value of another type
// expect: "one: kind"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

enum class kind { relu, tanh };
enum class other { relu, tanh };
template <>
struct cairn::by_name<kind> : cairn::enumerators<kind::relu, cairn::enumerator<"t", other::tanh>> {};
struct state {
  kind one{};
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
