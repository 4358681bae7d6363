// expect: a pointer to a class that is only declared here: save it in a unit that sees the definition
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct implementation;
struct state {
  std::shared_ptr<implementation> hidden;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
