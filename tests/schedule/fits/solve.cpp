// SPDX-License-Identifier: MIT
#include "cairn/schedule/fits/fit.hpp"

#include <cmath>
#include <random>

#include "catch.hpp"

using cairn::schedule::detail::matrix;
using cairn::schedule::detail::solve;
using cairn::schedule::detail::vector;

TEST_CASE("a solution of a positive definite system solves it, at any scale of its parameters") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 200; ++i) {
    matrix factor{}, m{};
    vector scale{}, x{}, b{};
    for (std::size_t r = 0; r < 4; ++r) {
      scale[r] = std::pow(10.0, 3 * normal(random));
      x[r] = normal(random) / scale[r];
      for (auto& each : factor[r]) each = normal(random);
      factor[r][r] += 5;
    }
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t k = 0; k < 4; ++k) m[r][c] += factor[r][k] * factor[c][k] * scale[r] * scale[c];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 4; ++c) b[r] += m[r][c] * x[c];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = r + 1; c < 4; ++c) m[r][c] = std::nan("");  // not used
    const auto solved = solve(m, b);
    for (std::size_t r = 0; r < 4; ++r) CHECK(solved[r] * scale[r] == Approx(x[r] * scale[r]).margin(1e-7));
  }
}

TEST_CASE("a singular system has a solution by its ridge; one that is not positive definite has none") {
  matrix ones{};
  for (auto& row : ones) row.fill(1);
  for (const double each : solve(ones, {4, 4, 4, 4})) CHECK(each == Approx(1).epsilon(1e-3));
  ones[1][0] = 2;
  CHECK(std::isnan(solve(ones, {1, 1, 1, 1})[0]));
  ones[1][0] = 1;
  ones[3][3] = -1;
  CHECK(std::isnan(solve(ones, {1, 1, 1, 1})[0]));
}
