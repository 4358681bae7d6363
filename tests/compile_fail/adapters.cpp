// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

template <class T>
struct has {
  T part;
};
template <int>
class watch {
 public:
  explicit watch(int);
};

template <>
struct cairn::adapter<watch<0>> {
  static int get(const watch<0>&) { return 0; }
};
template <>
struct cairn::adapter<watch<1>> {
  static int gett(const watch<1>&) { return 0; }
  static void set(watch<1>&, int) {}
};

// expect: a cairn::adapter has `view.object.`, which returns a cairn::tensor_view, or `get.object.` and `set.object,
void check(const has<watch<0>>& s) { (void)describe(s); }  // here "part: watch<0>"
void check(const has<watch<1>>& s) { (void)describe(s); }  // here "part: watch<1>"

template <>
struct cairn::adapter<std::string> {
  static int get(const std::string&) { return 0; }
  static void set(std::string&, int) {}
};
// expect: Numbers and std::string have none
void check(const has<std::string>& s) { (void)describe(s); }  // here "part: std::

class first {};
class second {};
template <>
struct cairn::adapter<first> {
  static first get(const first& from) { return from; }
  static void set(first& to, first from) { to = from; }
};
template <>
struct cairn::adapter<second> {
  static std::pair<int, second> get(const second& from) { return {1, from}; }
  static void set(second& to, std::pair<int, second> from) { to = from.second; }
};

// expect: what `get` returns contains no T again
void check(const first& s) { (void)describe(s); }   // here "first"
void check(const second& s) { (void)describe(s); }  // here "second"

struct point {
  float x = 0, y = 0;
};
class points {
 public:
  std::vector<point> all;
  explicit points(int);
};
template <>
struct cairn::adapter<points> {
  static tensor_view<point> view(points& of) { return {of.all.data(), {of.all.size()}}; }
};

// expect: a tensor numbers of up to 64 bits or complex numbers
void check(const has<points>& s) { (void)describe(s); }  // here "part: points"

struct layer {
  float* gradient;
};
struct net {
  std::vector<layer> layers;
};
class owner {
 public:
  explicit owner(int);
};
template <>
struct cairn::adapter<owner> {
  template <class Field>
  static void fields(owner& /*object*/, const Field& field) {
    const int limit = 3;
    int* raw = nullptr;
    net parts;
    // expect: in an adapter pass a part that is not const, or write `get` and `set`
    // lines: 42 clang: the functions that call the adapter are between each part and the state
    field("limit", limit);  // here "const int"
    // expect: a raw pointer does not say how much it points to
    // lines: 42 clang: the functions that call the adapter are between each part and the state
    field("raw", raw);    // here "int ?\*"
    field("net", parts);  // here "layers\.\*\.gradient: float ?\*"
  }
};

void check(const has<std::vector<owner>>& s) { (void)describe(s); }  // here
