// SPDX-License-Identifier: MIT
// expect: a span of elements that are not of fixed layout
// expect: "names: std::span<std::(__cxx11::)?basic_string<
#include <span>
#include <string>

#include "cairn/state/describe.hpp"

struct state {
  std::span<std::string> names;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
