// SPDX-License-Identifier: MIT
// Definitions of plan/calibrate.hpp.
#pragma once

// As in checksum.hpp: g++ 12 suspects its own AVX-512 functions.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/Core>
#include <Eigen/QR>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <string>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/plan/calibrate.hpp"

namespace cairn::inline v0_1::plan {

CAIRN_INLINE write_cost calibrate(std::span<const measured_write> samples) {
  if (samples.empty()) fail(errc::invalid, {"a calibration has no samples"});
  // One row for each sample, over its seconds: base, bytes and tensors make 1.
  Eigen::MatrixX3d rows(static_cast<Eigen::Index>(samples.size()), 3);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto& sample = samples[static_cast<std::size_t>(i)];
    if (!(sample.seconds > 0) || !cairn::detail::is_finite(sample.seconds))
      fail(errc::invalid, {"a write of a calibration takes ", std::to_string(sample.seconds), " seconds"});
    rows.row(i) << 1, static_cast<double>(sample.bytes), static_cast<double>(sample.tensors);
    rows.row(i) /= sample.seconds;
  }
  const Eigen::RowVector3d length = rows.colwise().norm();  // the columns have very different units
  for (Eigen::Index part = 0; part < 3; ++part)
    if (length[part] > 0) rows.col(part) /= length[part];

  // The best of all sets of parts whose solution has none below 0.
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows.rows());
  Eigen::Vector3d best = Eigen::Vector3d::Zero();
  double least = ones.squaredNorm();
  for (unsigned which = 1; which < 8; ++which) {
    std::vector<Eigen::Index> parts;
    for (Eigen::Index part = 0; part < 3; ++part)
      if ((which >> part & 1U) != 0) parts.push_back(part);
    const Eigen::MatrixXd some = rows(Eigen::all, parts);
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors(some.rows(), some.cols());
    factors.setThreshold(1e-5);
    factors.compute(some);
    if (factors.rank() < some.cols()) continue;  // they depend on one another
    const Eigen::VectorXd found = factors.solve(ones);
    const double squares = (some * found - ones).squaredNorm();
    if ((found.array() < 0).any() || squares >= least) continue;
    least = squares;
    best.setZero();
    for (std::size_t i = 0; i < parts.size(); ++i)
      best[parts[i]] = found[static_cast<Eigen::Index>(i)] / length[parts[i]];
  }
  return {best[0], best[1], best[2]};
}

}  // namespace cairn::inline v0_1::plan
