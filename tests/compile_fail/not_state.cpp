// SPDX-License-Identifier: MIT
// expect: If it is not state .a mutex, a thread, a function, a cache.: cairn::skip<T>
// expect: "thing: std::any"
// expect: "worker: std::thread"
// expect: a raw pointer does not say how much it points to
// expect: "callback: void ?\(\*\)\(int\)"
// expect: "member: float ?layer::\*"
// expect: "function: void ?\(layer::\*\)\(\)"
#include <any>
#include <thread>

#include "cairn/state/describe.hpp"

struct layer;
struct with_any {
  std::any thing;
};
struct with_thread {
  std::thread worker;
};
struct with_function {
  void (*callback)(int);
};
struct with_member {
  float layer::* member;
};
struct with_member_function {
  void (layer::*function)();
};

void check(const with_any& a, const with_thread& b, const with_function& c, const with_member& d,
           const with_member_function& e) {
  (void)cairn::detail::describe(a);  // here
  (void)cairn::detail::describe(b);  // here
  (void)cairn::detail::describe(c);  // here
  (void)cairn::detail::describe(d);  // here
  (void)cairn::detail::describe(e);  // here
}
