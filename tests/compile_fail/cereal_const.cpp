// SPDX-License-Identifier: MIT
// expect: cairn: a cereal function loads into something const
// expect: pass_to.*const int
// lines: 45 calls of cereal are between the member and the state
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class state {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number);  // here
  }

 private:
  const int number = 1;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
