// SPDX-License-Identifier: MIT
// expect: a const state can be saved but not loaded into
#include <string>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"

template <int>  // each class is refused once
struct trainer {
  int step = 0;
};

void check(cairn::checkpointer& run, const std::string& path, const cairn::any_store& store,
           const cairn::checkpoint& opened) {
  const trainer<0> a;
  (void)cairn::load(path, a);  // here
  const trainer<1> b;
  (void)cairn::load(store, b);  // here
  const trainer<2> c;
  (void)cairn::load(store, "a", c);  // here
  const trainer<3> d;
  (void)cairn::load(opened, d);  // here
  const trainer<4> e;
  (void)run.restore(e);  // here
  const trainer<5> f;
  (void)run.restore_best(f);  // here
}
