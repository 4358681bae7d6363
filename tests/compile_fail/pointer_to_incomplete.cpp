// expect: include its definition
// expect: [^a-z]hidden
#include <memory>

#include "cairn/state/describe.hpp"

struct implementation;
struct state {
  std::shared_ptr<implementation> hidden;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
