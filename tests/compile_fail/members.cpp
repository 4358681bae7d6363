// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

union number {
  int i;
  float f;
};
struct with_union {
  number n;
};
struct with_anonymous_union {
  int kind;
  union {
    int i;
    float f;
  };
};

struct with_unnamed_union_type {
  std::string text;
  union {
    int i;
    float f;
  } n;
};

// expect: a union does not say which member is alive
void check(const with_union& s) { (void)describe(s); }               // here "n: number"
void check(const with_unnamed_union_type& s) { (void)describe(s); }  // here "n: |with_unnamed_union_type"
void check(const with_anonymous_union& s) { (void)describe(s); }     // here "with_anonymous_union"

struct with_bit_field {
  int step;
  unsigned done : 1;
};
struct with_late_bit_field {
  int a, b, c, d, e, f, g, h, i, j;
  unsigned k : 1;
};
struct __attribute__((packed)) with_packed {
  char kind;
  int step;
};

// expect: cannot write into a bit-field or a packed or volatile member
void check(const with_bit_field& s) { (void)describe(s); }       // here "with_bit_field"
void check(const with_late_bit_field& s) { (void)describe(s); }  // here "with_late_bit_field"
void check(const with_packed& s) { (void)describe(s); }          // here "with_packed"

struct layer {
  layer(int in, int out) : size(in * out) {}
  int size;
};
struct with_array {
  int step = 0;
  layer layers[17] = {{784, 128}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1},   {1, 1},
                      {1, 1},     {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {128, 10}};
};
struct tag {};
struct with_base_twice : tag {
  tag first;
  int step = 0;
};

// expect: a C array of more than 16 objects without a default constructor, .* std::array, or list the other
// lines: 120 most of them are about the structured binding
void check(const with_array& s) { (void)describe(s); }       // here "with_array"
void check(const with_base_twice& s) { (void)describe(s); }  // here "with_base_twice"

struct with_reference {
  int& step;
};
struct with_const_reference {
  int step;
  const int& start;
};
struct with_own_reference {
  int step = 1;
  int& start = step;
  int last = 2;
};

// expect: aggregate, as it has .* a reference, .*; save what a reference refers to by its owner
void check(const with_reference& s) { (void)describe(s); }        // here "with_reference"
void check(const with_own_reference& s) { (void)describe(s); }    // here "with_own_reference"
void check(const with_const_reference& s) { (void)describe(s); }  // here "with_const_reference"

struct with_volatile {
  volatile int step;
};

// expect: use a member of a whole type, a std::atomic
void check(const with_volatile& s) { (void)describe(s); }  // here "with_volatile"

struct with_many {
  int f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23, f24,
      f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39, f40, f41, f42, f43, f44, f45, f46, f47,
      f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59, f60, f61, f62, f63, f64, f65, f66, f67, f68, f69, f70,
      f71, f72, f73, f74, f75, f76, f77, f78, f79, f80, f81, f82, f83, f84, f85, f86, f87, f88, f89, f90, f91, f92, f93,
      f94, f95, f96, f97, f98, f99, f100;
};

// expect: more than 100 fields: list them with a public line
void check(const with_many& s) { (void)describe(s); }  // here "with_many"

class with_private {
 public:
  with_private() = default;

 private:
  int hidden_ = 0;
};

// expect: give it a public line
void check(const with_private& s) { (void)describe(s); }  // here "with_private"

namespace user {

struct three {
  int a = 0, b = 0, c = 0;
};
template <std::size_t I>
auto& get(three& from) {
  return I == 0 ? from.a : from.b;
}

}  // namespace user

template <>
struct std::tuple_size<user::three> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, user::three> {
  using type = int;
};
struct with_tuple {
  user::three size;
};

// expect: may have members that these do not show
void check(const with_tuple& s) { (void)describe(s); }  // here "size: user::three"
