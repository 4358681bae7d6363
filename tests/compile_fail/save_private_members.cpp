// expect: give it a public line
#include "cairn/save.hpp"

class state {
 public:
  state() = default;

 private:
  int hidden_ = 0;
};

void check(const state& s) { (void)cairn::save("here", s); }
