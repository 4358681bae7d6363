// expect: a pointer to void does not say what it points to
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  std::shared_ptr<void> anything;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
