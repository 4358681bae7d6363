// expect: a const member cannot be loaded into
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  const int width = 3;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
