// SPDX-License-Identifier: MIT
// expect: has only the cereal functions of a base class, which leave out its own members
// expect: "state"
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class base {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }

 private:
  int x = 0;
};

class state : public base {
  int y = 0;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
