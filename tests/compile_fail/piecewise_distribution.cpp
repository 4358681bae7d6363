// expect: cannot be read back exactly
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  std::piecewise_linear_distribution<> draw;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
