// SPDX-License-Identifier: MIT
// expect: "pointer: my_type"
// expect: load_and_construct is not called
#include <cereal/types/memory.hpp>
#include <memory>

#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class my_type {
 public:
  explicit my_type(int x) : x_(x) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x_);
  }
  template <class Archive>
  static void load_and_construct(Archive& ar, cereal::construct<my_type>& construct) {
    int x = 0;
    ar(x);
    construct(x);
  }

 private:
  int x_;
};

struct state {
  std::unique_ptr<my_type> pointer;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
