// SPDX-License-Identifier: MIT
// expect: has a cereal function that saves it, but none that loads it
// expect: "optimizer"
// lines: 45 calls of cereal are between the member and the state
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class optimizer {
 public:
  template <class Archive>
  void save(Archive& ar) const {
    ar(rate);
  }

 private:
  float rate = 0;
};

class state {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(part);
  }

 private:
  optimizer part;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
