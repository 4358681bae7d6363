// SPDX-License-Identifier: MIT
// expect: has a cereal function that saves it, but none that loads it
// expect: "state"
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class state {
 public:
  template <class Archive>
  void save(Archive& ar) const {
    ar(x);
  }

 private:
  int x = 0;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
