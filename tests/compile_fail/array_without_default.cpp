// SPDX-License-Identifier: MIT
// expect: a C array of objects without a default constructor hides the number of members: use .* a std::array, or
// lines: 200 most of them are about the structured binding that has the wrong number of names
#include "cairn/state/describe.hpp"

struct layer {
  layer(int in, int out) : size(in * out) {}
  int size;
};
struct net {
  int step = 0;
  layer layers[2] = {{784, 128}, {128, 10}};
};

void check(const net& n) { (void)cairn::detail::describe(n); }  // here
