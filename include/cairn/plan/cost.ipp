// Definitions of plan/cost.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/plan/cost.hpp"

namespace cairn::plan {

namespace detail {

/// The normal equations of three unknowns, whose columns have a length of 1: products * x = right.
struct normal_equations {
  std::array<std::array<double, 3>, 3> products{};
  std::array<double, 3> right{};
};

/// Solves for the unknowns in the set `which` (bit i: unknown i) by elimination; the others are 0. Nothing if they depend on one another.
[[nodiscard]] inline std::optional<std::array<double, 3>> solve(normal_equations of, unsigned which) {
  for (std::size_t i = 0; i < 3; ++i) {
    if ((which >> i & 1U) != 0) continue;
    of.right[i] = 0;
    for (std::size_t j = 0; j < 3; ++j) of.products[i][j] = of.products[j][i] = i == j ? 1 : 0;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (of.products[i][i] < 1e-9) return std::nullopt;
    for (std::size_t row = i + 1; row < 3; ++row) {
      const double factor = of.products[row][i] / of.products[i][i];
      for (std::size_t column = i; column < 3; ++column) of.products[row][column] -= factor * of.products[i][column];
      of.right[row] -= factor * of.right[i];
    }
  }
  std::array<double, 3> x{};
  for (std::size_t i = 3; i-- > 0;) {
    x[i] = of.right[i];
    for (std::size_t j = i + 1; j < 3; ++j) x[i] -= of.products[i][j] * x[j];
    x[i] /= of.products[i][i];
  }
  return x;
}

}  // namespace detail

CAIRN_INLINE write_cost calibrate(std::span<const measured_write> samples) {
  if (samples.empty()) fail(errc::invalid, {"a calibration has no samples"});
  detail::normal_equations all;
  for (const auto& sample : samples) {
    if (!(sample.seconds > 0) || !cairn::detail::is_finite(sample.seconds))
      fail(errc::invalid, {"a write of a calibration takes ", std::to_string(sample.seconds), " seconds"});
    const std::array<double, 3> row{1 / sample.seconds, static_cast<double>(sample.bytes) / sample.seconds,
                                    static_cast<double>(sample.tensors) / sample.seconds};
    for (std::size_t i = 0; i < 3; ++i) {
      all.right[i] += row[i];
      for (std::size_t j = 0; j < 3; ++j) all.products[i][j] += row[i] * row[j];
    }
  }
  std::array<double, 3> length{};
  for (std::size_t i = 0; i < 3; ++i) length[i] = all.products[i][i] > 0 ? std::sqrt(all.products[i][i]) : 1;
  for (std::size_t i = 0; i < 3; ++i) {
    all.right[i] /= length[i];
    for (std::size_t j = 0; j < 3; ++j) all.products[i][j] /= length[i] * length[j];
  }

  // The best of all sets of parts whose solution has none below 0. The squares fall by the product of the solution and the right side.
  std::array<double, 3> best{};
  double most = 0;
  for (unsigned which = 1; which < 8; ++which) {
    const auto found = detail::solve(all, which);
    if (!found || (*found)[0] < 0 || (*found)[1] < 0 || (*found)[2] < 0) continue;
    double fall = 0;
    for (std::size_t i = 0; i < 3; ++i) fall += (*found)[i] * all.right[i];
    if (fall <= most) continue;
    most = fall;
    best = *found;
  }
  return {best[0] / length[0], best[1] / length[1], best[2] / length[2]};
}

}  // namespace cairn::plan
