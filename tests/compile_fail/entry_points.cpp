// SPDX-License-Identifier: MIT
#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/loop.hpp"
#include "cairn/save.hpp"
#include "cairn/state/words.hpp"

#include "../standard.hpp"

template <int>  // each class is refused once
class trainer {
 public:
  trainer() = default;

 private:
  int hidden_ = 0;
};
template <int>
struct model {
  int step = 0;
};

void check(cairn::checkpointer& run, const std::string& path, const cairn::any_store& store,
           const cairn::checkpoint& opened) {
  // expect: give it a public line
  trainer<0> a;
  (void)cairn::save(path, a);  // here "trainer<0>"
  trainer<1> b;
  (void)cairn::save(store, "a", b);  // here "trainer<1>"
  trainer<2> c;
  (void)cairn::load(path, c);  // here "trainer<2>"
  trainer<3> d;
  (void)cairn::load(store, d);  // here "trainer<3>"
  trainer<4> e;
  (void)cairn::load(store, "a", e);  // here "trainer<4>"
  trainer<5> f;
  (void)cairn::load(opened, f);  // here "trainer<5>"
  trainer<6> g;
  (void)run.step(g, {.step = 1});  // here "trainer<6>"
  trainer<7> h;
  (void)run.save(h, {.step = 1});  // here "trainer<7>"
  trainer<8> i;
  (void)run.restore(i);  // here "trainer<8>"
  trainer<9> j;
  (void)run.restore_best(j);  // here "trainer<9>"

  // expect: a const state can be saved but not loaded into
  const model<0> k;
  (void)cairn::load(path, k);  // here model<0>
  const model<1> l;
  (void)cairn::load(store, l);  // here model<1>
  const model<2> m;
  (void)cairn::load(store, "a", m);  // here model<2>
  const model<3> n;
  (void)cairn::load(opened, n);  // here model<3>
  const model<4> o;
  (void)run.restore(o);  // here model<4>
  const model<5> p;
  (void)run.restore_best(p);  // here model<5>

  // expect: a raw pointer does not say how much it points to
  const model<6>* q = nullptr;
  (void)cairn::save(path, q);  // here "const model<6> ?\*"

  // expect: ignoring return value
  run.step(k, {.step = 1});  // error

  // expect: read<T> takes the type of one element
  (void)opened.read<std::string>("w");         // error
  (void)opened.read<std::vector<float>>("w");  // error
  (void)opened.read<const float>("w");         // error
  (void)opened.read<long double>("w");         // error
  (void)opened.read<bool>("w");                // error
}

struct image {
  const char* pixels;
  std::uint64_t bytes;
};
struct cached {
  std::uint64_t number;
  cairn::skip<const char*> text;
};
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::number_>{}; }

 private:
  std::uint64_t number_;
  const char* text_;
};

// expect: fingerprint takes items that are numbers, structs of whole numbers without padding
void check(const std::vector<image*>& items) { (void)cairn::fingerprint(items); }                         // here
void check(const std::vector<std::vector<int*>>& items) { (void)cairn::fingerprint(items); }              // here
void check(const std::vector<std::reference_wrapper<image>>& items) { (void)cairn::fingerprint(items); }  // here
void check(const std::vector<image>& items) { (void)cairn::fingerprint(items); }                          // here
void check(const std::vector<cached>& items) { (void)cairn::fingerprint(items); }                         // here
void check(const std::vector<listed>& items) { (void)cairn::fingerprint(items); }                         // here
void check(const std::vector<long double>& items) { (void)cairn::fingerprint(items); }                    // here
