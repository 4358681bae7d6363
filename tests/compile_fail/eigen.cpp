// SPDX-License-Identifier: MIT
// options: -isystem /usr/include/eigen3
#include <Eigen/Core>
#include <Eigen/Geometry>

#include "cairn/adapters/eigen.hpp"
#include "cairn/state/describe.hpp"

using cairn::detail::describe;

struct expression {
  Eigen::Transpose<Eigen::MatrixXf> weights;
};
struct rotation {
  Eigen::Quaternionf turn;
};

// expect: for other types of these libraries save what they are made from, or specialise cairn::adapter
void check(const expression& s) { (void)describe(s); }  // here "weights: Eigen::Transpose<
// expect: include the adapter for this type: .* eigen/geometry.hpp
void check(const rotation& s) { (void)describe(s); }  // here "turn: Eigen::Quaternion<
