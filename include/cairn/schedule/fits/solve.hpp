// SPDX-License-Identifier: MIT
// Small symmetric systems of linear equations.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <array>
#include <cmath>
#include <bit>

#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::schedule::detail {

using vector = std::array<double, 4>;
/// Symmetric; only the lower triangle, row by row, is used.
using matrix = std::array<vector, 4>;

/// x with m x = b, by Cholesky's factors of m scaled to a diagonal of ones. NaN where m is not positive definite.
[[nodiscard]] inline vector solve(const matrix& m, const vector& b) {
  constexpr double ridge = 1e-11;  // for parameters that are nearly dependent
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> system(m[0].data());
  const Eigen::Map<const Eigen::Vector4d> right(b.data());
  const Eigen::Vector4d unit = system.diagonal().cwiseSqrt().cwiseInverse();
  Eigen::Matrix4d scaled = unit.asDiagonal() * system * unit.asDiagonal();
  scaled.diagonal().setConstant(1 + ridge);
  vector x;
  x.fill(std::bit_cast<double>(cairn::detail::quiet_nan_bits));
  for (const double& each : unit)
    if (!cairn::detail::is_finite(each)) return x;
  const Eigen::LLT<Eigen::Matrix4d, Eigen::Lower> factors(scaled);
  if (factors.info() == Eigen::Success)
    Eigen::Map<Eigen::Vector4d>(x.data()) = unit.cwiseProduct(factors.solve(unit.cwiseProduct(right)));
  return x;
}

}  // namespace cairn::inline v0_1::schedule::detail
