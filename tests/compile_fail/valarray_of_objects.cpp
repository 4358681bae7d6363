// expect: use std::vector
// expect: [^a-z]names
#include <string>
#include <valarray>

#include "cairn/state/describe.hpp"

struct state {
  std::valarray<std::string> names;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
