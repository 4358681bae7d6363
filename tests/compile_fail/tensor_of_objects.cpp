// SPDX-License-Identifier: MIT
// expect: a tensor whose elements have no dtype
// expect: "words: cairn::(v0_1::)?tensor_view<std::.*basic_string<char> ?>"
#include <string>

#include "cairn/state/describe.hpp"

struct state {
  cairn::tensor_view<std::string> words;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
