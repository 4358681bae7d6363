// expect: give it a public line
// lines: 30 each overload is explained
#include "cairn/state/describe.hpp"

class state {
 public:
  state() = default;

 private:
  int hidden_ = 0;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
