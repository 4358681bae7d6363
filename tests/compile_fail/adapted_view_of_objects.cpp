// SPDX-License-Identifier: MIT
// expect: a tensor whose elements have no dtype
// expect: "grid: points"
#include <vector>

#include "cairn/state/describe.hpp"

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

struct state {
  points grid;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
