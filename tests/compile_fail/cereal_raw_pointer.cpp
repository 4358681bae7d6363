// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "int ?\*"
// lines: 45 calls of cereal are between the member and the state
#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class state {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(pointer);  // here
  }

 private:
  int* pointer = nullptr;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
