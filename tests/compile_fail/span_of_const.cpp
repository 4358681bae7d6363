// expect: use a span of mutable elements
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  std::span<const float> weights;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
