// SPDX-License-Identifier: MIT
// expect: for the types of Eigen include cairn/adapters/eigen.hpp
// expect: "weights: Eigen::Map<Eigen::Matrix<.*float, -1,
// options: -isystem /usr/include/eigen3
#include <Eigen/Core>

#include "cairn/state/describe.hpp"

struct state {
  Eigen::Map<Eigen::VectorXf> weights;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
