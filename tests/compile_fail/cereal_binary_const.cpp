// SPDX-License-Identifier: MIT
// expect: cairn: a cereal function loads into something const
// expect: pass_binary
// lines: 45 calls of cereal are between the member and the state
#include <cereal/cereal.hpp>

#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class state {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::binary_data(static_cast<const float*>(numbers), sizeof(numbers)));  // here
  }

 private:
  float numbers[4] = {};
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
