// SPDX-License-Identifier: MIT
// Small symmetric systems of linear equations.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::schedule::detail {

using vector = std::array<double, 4>;
/// Symmetric; only the lower triangle, row by row, is used.
using matrix = std::array<vector, 4>;

/// x with m x = b, by Cholesky's factors of m scaled to a diagonal of ones. NaN where m is not positive definite.
[[nodiscard]] inline vector solve(const matrix& m, const vector& b) {
  constexpr std::size_t n = 4;
  constexpr double ridge = 1e-11;  // for parameters that are nearly dependent
  vector none, unit, x;
  none.fill(std::bit_cast<double>(cairn::detail::quiet_nan_bits));
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1 / std::sqrt(m[i][i]);
    if (!cairn::detail::is_finite(unit[i])) return none;
  }
  matrix factor{};
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      double rest = r == c ? 1 + ridge : unit[r] * m[r][c] * unit[c];
      for (std::size_t k = 0; k < c; ++k) rest -= factor[r][k] * factor[c][k];
      if (r == c && !(cairn::detail::is_finite(rest) && rest > 0)) return none;
      factor[r][c] = r == c ? std::sqrt(rest) : rest / factor[c][c];
    }
    x[r] = unit[r] * b[r];
    for (std::size_t k = 0; k < r; ++k) x[r] -= factor[r][k] * x[k];
    x[r] /= factor[r][r];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) x[r] -= factor[k][r] * x[k];
    x[r] /= factor[r][r];
  }
  for (std::size_t i = 0; i < n; ++i) x[i] *= unit[i];
  return x;
}

}  // namespace cairn::inline v0_1::schedule::detail
