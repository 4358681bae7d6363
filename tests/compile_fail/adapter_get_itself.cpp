// SPDX-License-Identifier: MIT
// expect: contains a T
// expect: "first"
// expect: "second"
#include <utility>

#include "cairn/state/describe.hpp"

class first {};
class second {};
template <>
struct cairn::adapter<first> {
  static first get(const first& from) { return from; }
  static void set(first& to, first from) { to = from; }
};
template <>
struct cairn::adapter<second> {
  static std::pair<int, second> get(const second& from) { return {1, from}; }
  static void set(second& to, std::pair<int, second> from) { to = from.second; }
};

void check(const first& s) { (void)cairn::detail::describe(s); }   // here
void check(const second& s) { (void)cairn::detail::describe(s); }  // here
