// SPDX-License-Identifier: MIT
// expect: use std::vector
// expect: "names: std::valarray<std::.*basic_string<char> ?>"
#include <string>
#include <valarray>

#include "cairn/state/describe.hpp"

struct state {
  std::valarray<std::string> names;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
