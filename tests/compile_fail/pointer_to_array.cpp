// expect: does not say how long it is: use std::vector
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  std::unique_ptr<float[]> weights;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
