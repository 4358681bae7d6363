// SPDX-License-Identifier: MIT
// expect: include cairn/adapters/eigen.hpp
// expect: "weights: Eigen::Matrix"
#include "cairn/state/describe.hpp"

namespace Eigen {
class Matrix {  // as that of Eigen: a class that is not an aggregate, and no range
 public:
  void begin();
  void end();
  void resize(long size);
  using value_type = float;

 private:
  float* values_;
};
}  // namespace Eigen

struct state {
  Eigen::Matrix weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
