// SPDX-License-Identifier: MIT
// expect: include cairn/adapters/eigen.hpp, or geometry.hpp
// expect: "turn: Eigen::Quaternion<
// options: -isystem /usr/include/eigen3
#include <Eigen/Geometry>

#include "cairn/adapters/eigen.hpp"
#include "cairn/state/describe.hpp"

struct state {
  Eigen::Quaternionf turn;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
