// expect: an object behind a pointer to volatile cannot be saved: drop the volatile
// expect: [^a-z]flag
#include <memory>

#include "cairn/state/describe.hpp"

struct state {
  std::unique_ptr<volatile int> flag;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
