// SPDX-License-Identifier: MIT
// expect: has a cereal function that loads it, but none that saves it
// expect: "state"
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class state {
 public:
  template <class Archive>
  void load(Archive& ar) {
    ar(x);
  }

 private:
  int x = 0;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
