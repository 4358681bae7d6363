// expect: give it a public line
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

class state {
 public:
  state() = default;

 private:
  int hidden_ = 0;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
