// SPDX-License-Identifier: MIT
#include "simulate/predict.hpp"

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

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

inline void check(const machine& on) {
  if (on.ranks_per_node == 0) throw std::invalid_argument("ranks_per_node of a machine is 0");
  const auto refuse_unless = [](bool is_valid, const char* name, double value) {
    if (!is_valid || !std::isfinite(value))
      throw std::invalid_argument(std::string(name) + " of a machine is " + std::to_string(value));
  };
  for (const auto& [name, rate] :
       {std::pair("cores_per_node", on.cores_per_node), std::pair("copy", on.copy), std::pair("ratio", on.ratio),
        std::pair("rank_link", on.rank_link), std::pair("node_link", on.node_link), std::pair("write", on.write),
        std::pair("read", on.read), std::pair("files_per_second", on.files_per_second)})
    refuse_unless(rate > 0, name, rate);
  for (const auto& [name, cost] :
       {std::pair("encode.base", on.encode.base), std::pair("encode.per_byte", on.encode.per_byte),
        std::pair("encode.per_tensor", on.encode.per_tensor), std::pair("decode.base", on.decode.base),
        std::pair("decode.per_byte", on.decode.per_byte), std::pair("decode.per_tensor", on.decode.per_tensor),
        std::pair("file", on.file), std::pair("message", on.message), std::pair("per_leaf", on.per_leaf),
        std::pair("per_rank", on.per_rank)})
    refuse_unless(cost >= 0, name, cost);
}

/// What a rank has of the plan.
struct share {
  std::uint64_t bytes = 0, pieces = 0;
};

/// The seconds until every rank has done its `amount(share)`, where one rank does at most `one` per second and a node
/// at most `all`.
template <class Amount>
[[nodiscard]] double slowest_node(const std::vector<share>& shares, std::uint64_t ranks_per_node, double one,
                                  double all, const Amount& amount) {
  double slowest = 0, of_node = 0;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const double own = amount(shares[rank]);
    of_node = rank % ranks_per_node == 0 ? own : of_node + own;
    slowest = std::max({slowest, own / one, of_node / all});
  }
  return slowest;
}

}  // namespace

prediction simulate(const cairn::plan::partition& plan, const machine& on) {
  check(on);
  prediction result;
  std::vector<share> shares;
  share all;
  std::size_t leaves = 0;
  for (const auto& pieces : plan.pieces()) {
    shares.push_back({0, pieces.size()});
    for (const auto& each : pieces) {
      shares.back().bytes += plan.bytes_of(each);
      leaves = std::max(leaves, each.leaf + 1);
    }
    all.bytes += shares.back().bytes;
    all.pieces += pieces.size();
    result.largest_share = std::max(result.largest_share, shares.back().bytes);
  }
  const auto slowest = [&](double one, double node, const auto& amount) {
    return slowest_node(shares, on.ranks_per_node, one, node, amount);
  };
  const auto bytes = [](const share& of) { return static_cast<double>(of.bytes); };
  const auto stored = [&](const share& of) { return on.ratio * bytes(of); };
  const auto encoded = [&](const share& of) { return on.encode.seconds(of.bytes, of.pieces); };
  const auto decoded = [&](const share& of) { return on.decode.seconds(of.bytes, of.pieces); };
  const auto ranks = static_cast<double>(shares.size()), cores = on.cores_per_node;

  result.copy = slowest(on.copy, on.copy * cores, bytes);
  result.encode = slowest(1, cores, encoded);
  result.create = on.file + ranks / on.files_per_second;
  result.write = std::max(slowest(on.rank_link, on.node_link, stored), stored(all) / on.write);
  const auto rounds = static_cast<double>(std::bit_width(shares.size() - 1));
  result.gather = on.message * rounds + on.per_rank * ranks;
  result.publish = on.file + on.per_leaf * static_cast<double>(leaves);

  // Every load reads the index once and broadcasts it.
  const auto index = on.file + on.message * rounds + on.per_leaf * static_cast<double>(leaves) + on.per_rank * ranks;
  // All ranks read all files.
  const std::vector<share> copies(shares.size(), all);
  const auto of_copies = [&](double one, double node, const auto& amount) {
    return slowest_node(copies, on.ranks_per_node, one, node, amount);
  };
  result.read = index + ranks * (on.file + ranks / on.files_per_second) +
                std::max(of_copies(on.rank_link, on.node_link, stored), ranks * stored(all) / on.read) +
                of_copies(1, cores, decoded);
  // Each rank reads its share. The decoded bytes pass through the links of all nodes but that of the reader.
  const auto others = shares.size() > on.ranks_per_node ? bytes(all) / on.node_link : 0.0;
  result.read_shared = index + result.create +
                       std::max(slowest(on.rank_link, on.node_link, stored), stored(all) / on.read) +
                       slowest(1, cores, decoded) + others + (shares.size() > 1 ? bytes(all) / on.copy : 0.0) +
                       on.message * rounds * ranks;
  return result;
}

write_cost calibrate(std::span<const measured_write> samples) {
  if (samples.empty()) throw std::invalid_argument("a calibration has no samples");
  // One row for each sample, over its seconds: base, bytes and tensors make 1.
  Eigen::MatrixX3d rows(static_cast<Eigen::Index>(samples.size()), 3);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto& sample = samples[static_cast<std::size_t>(i)];
    if (!(sample.seconds > 0) || !std::isfinite(sample.seconds))
      throw std::invalid_argument("a write of a calibration takes " + std::to_string(sample.seconds) + " seconds");
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

}  // namespace bench
