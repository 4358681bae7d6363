// SPDX-License-Identifier: MIT
// expect: give it a public line
// expect: "trainer<0>"
// expect: "trainer<1>"
// expect: "trainer<2>"
// expect: "trainer<3>"
// expect: "trainer<4>"
// expect: "trainer<5>"
// expect: "trainer<6>"
// expect: "trainer<7>"
// expect: "trainer<8>"
// expect: "trainer<9>"
#include <string>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"

template <int>  // each class is refused once
class trainer {
 public:
  trainer() = default;

 private:
  int hidden_ = 0;
};

void check(cairn::checkpointer& run, const std::string& path, const cairn::any_store& store,
           const cairn::checkpoint& opened) {
  trainer<0> a;
  (void)cairn::save(path, a);  // here
  trainer<1> b;
  (void)cairn::save(store, "a", b);  // here
  trainer<2> c;
  (void)cairn::load(path, c);  // here
  trainer<3> d;
  (void)cairn::load(store, d);  // here
  trainer<4> e;
  (void)cairn::load(store, "a", e);  // here
  trainer<5> f;
  (void)cairn::load(opened, f);  // here
  trainer<6> g;
  (void)run.step(g, {.step = 1});  // here
  trainer<7> h;
  (void)run.save(h, {.step = 1});  // here
  trainer<8> i;
  (void)run.restore(i);  // here
  trainer<9> j;
  (void)run.restore_best(j);  // here
}
