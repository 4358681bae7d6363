// SPDX-License-Identifier: MIT
#include <any>

#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

struct layer {
  std::function<float(float)> activation;
};
inline auto draw = [] { return 4; };
// clang-format off
struct s1 { std::any thing; };
struct s2 { std::thread worker; };
struct s3 { std::mutex guard; };
struct s4 { std::vector<layer> layers; };
struct s5 { std::string_view name; };
struct s6 { __int128 wide; };
struct s7 { std::reference_wrapper<int> layer; };
struct s8 { std::chrono::year_month_weekday day; };
struct s9 { decltype(draw) draws; int state = draws(); };
struct s10 { std::piecewise_linear_distribution<> draw; };
// clang-format on

// expect: If it is not state .a mutex, a thread, a function, a cache.: cairn::skip<T>, or list the other members
void check(const s1& s) { (void)describe(s); }  // here "thing: std::any"
void check(const s2& s) { (void)describe(s); }  // here "worker: std::thread"
void check(const s3& s) { (void)describe(s); }  // here "guard: std::mutex"
void check(const s4& s) { (void)describe(s); }  // here "layers\.\*\.activation: std::.*function<.*float ?\(float\)>"
// expect: or use another type, such as std::string for a string_view
void check(const s5& s) { (void)describe(s); }  // here "name: std::.*string_view
void check(const s6& s) { (void)describe(s); }  // here "wide: __int128
void check(const s7& s) { (void)describe(s); }  // here "layer: std::reference_wrapper<
void check(const s8& s) { (void)describe(s); }  // here "day: std::chrono::year_month_weekday
void check(const s9& s) { (void)describe(s); }  // here "draws:
// expect: of a piecewise distribution save the intervals and weights
void check(const s10& s) { (void)describe(s); }  // here "draw: std::.*piecewise_linear_distribution<>"
