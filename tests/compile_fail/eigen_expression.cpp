// SPDX-License-Identifier: MIT
// expect: for its other types save what they are made from
// expect: or specialise cairn::adapter
// expect: "weights: Eigen::Transpose<
// options: -isystem /usr/include/eigen3
#include <Eigen/Core>

#include "cairn/adapters/eigen.hpp"
#include "cairn/state/describe.hpp"

struct state {
  Eigen::Transpose<Eigen::MatrixXf> weights;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
