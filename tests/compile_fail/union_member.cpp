// expect: a union does not say which member is alive
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

union number {
  int i;
  float f;
};
struct state {
  number n;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
