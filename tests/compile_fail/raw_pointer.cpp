// expect: a raw pointer does not say how much it points to
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  float* weights;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
