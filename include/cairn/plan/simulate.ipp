// SPDX-License-Identifier: MIT
// Definitions of plan/simulate.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/plan/simulate.hpp"

namespace cairn::inline v0_1::plan {

namespace detail {

inline void check(const machine& on) {
  if (on.ranks_per_node == 0) fail(errc::invalid, {"ranks_per_node of a machine is 0"});
  const auto refuse_unless = [](bool is_valid, const char* name, double value) {
    if (!is_valid || !cairn::detail::is_finite(value))
      fail(errc::invalid, {name, " of a machine is ", std::to_string(value)});
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

/// The seconds until every rank has done its `amount(share)`, where one rank does at most `one` per second and a node at most `all`.
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

}  // namespace detail

CAIRN_INLINE prediction simulate(const partition& plan, const machine& on) {
  detail::check(on);
  prediction result;
  std::vector<detail::share> shares;
  detail::share all;
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
    return detail::slowest_node(shares, on.ranks_per_node, one, node, amount);
  };
  const auto bytes = [](const detail::share& of) { return static_cast<double>(of.bytes); };
  const auto stored = [&](const detail::share& of) { return on.ratio * bytes(of); };
  const auto encoded = [&](const detail::share& of) { return on.encode.seconds(of.bytes, of.pieces); };
  const auto decoded = [&](const detail::share& of) { return on.decode.seconds(of.bytes, of.pieces); };
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
  const std::vector<detail::share> copies(shares.size(), all);
  const auto of_copies = [&](double one, double node, const auto& amount) {
    return detail::slowest_node(copies, on.ranks_per_node, one, node, amount);
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

}  // namespace cairn::inline v0_1::plan
