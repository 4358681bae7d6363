// SPDX-License-Identifier: MIT
// expect: has several cereal functions of one kind, perhaps inherited ones
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
 public:
  template <class Archive>
  void save(Archive& ar) const {
    ar(y);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(y);
  }

 private:
  int y = 0;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
