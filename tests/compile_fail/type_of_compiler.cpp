// SPDX-License-Identifier: MIT
// expect: this type of the standard library or of the compiler cannot be saved
// expect: "name: std::.*string_view
// expect: "wide: __int128
// expect: "layer: std::reference_wrapper<
// expect: "day: std::chrono::year_month_weekday
#include <chrono>
#include <functional>
#include <string_view>

#include "cairn/state/describe.hpp"

struct first {
  std::string_view name;
};
struct second {
  __int128 wide;
};
struct third {
  std::reference_wrapper<int> layer;
};
struct fourth {
  std::chrono::year_month_weekday day;
};
inline auto draw = [] { return 4; };
struct fifth {
  decltype(draw) draws;
  int state = draws();
};

void check(const first& s) { (void)cairn::detail::describe(s); }   // here
void check(const second& s) { (void)cairn::detail::describe(s); }  // here
void check(const third& s) { (void)cairn::detail::describe(s); }   // here
void check(const fourth& s) { (void)cairn::detail::describe(s); }  // here
void check(const fifth& s) { (void)cairn::detail::describe(s); }   // here
