// SPDX-License-Identifier: MIT
// expect: is tried on a new object first, so this class needs a default constructor
// expect: "state"
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class state {
 public:
  explicit state(int value) : x(value) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }

 private:
  int x;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
