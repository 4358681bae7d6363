// Small symmetric systems of linear equations.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace cairn::schedule::detail {

using vector = std::array<double, 4>;
/// Symmetric; only the lower triangle, row by row, is used.
using matrix = std::array<vector, 4>;

/// x with m x = b, by Cholesky's factors of m scaled to a diagonal of ones. NaN where m is not positive definite.
[[nodiscard]] inline vector solve(matrix m, vector b) noexcept {
  constexpr double ridge = 1e-11;  // where two parameters can hardly be told apart
  constexpr std::size_t n = 4;
  vector unit;
  for (std::size_t k = 0; k < n; ++k) unit[k] = 1 / std::sqrt(m[k][k]);
  for (std::size_t r = 0; r < n; ++r) {
    b[r] *= unit[r];
    for (std::size_t c = 0; c <= r; ++c) {
      double sum = r == c ? 1 + ridge : m[r][c] * unit[r] * unit[c];
      for (std::size_t k = 0; k < c; ++k) sum -= m[r][k] * m[c][k];
      m[r][c] = r == c ? std::sqrt(sum) : sum / m[c][c];
      if (c < r) b[r] -= m[r][c] * b[c];
    }
    b[r] /= m[r][r];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) b[r] -= m[k][r] * b[k];
    b[r] /= m[r][r];
  }
  for (std::size_t k = 0; k < n; ++k) b[k] *= unit[k];
  return b;
}

}  // namespace cairn::schedule::detail
