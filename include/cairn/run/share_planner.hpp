// SPDX-License-Identifier: MIT
// How the state is divided between the ranks of a group, from the bytes that the save before has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/record_columns.hpp"
#include "cairn/plan/partition.hpp"
#include "cairn/run/own_state.hpp"

namespace cairn::inline v0_1::detail {

/// The same at all ranks, as its inputs are.
class share_planner {
 public:
  /// Call it first. A rank of weight 0 writes nothing but its own state.
  void set_weights(std::span<const std::uint64_t> of_ranks) {
    ranks_.clear();
    for (const auto weight : of_ranks) ranks_.push_back({.weight = weight});
  }

  /// The plan of a save of what all ranks have, from the bytes that `saved` was given. With `repeats`, that of the last
  /// checkpoint, if it is of the same state. O(leaves + ranks).
  [[nodiscard]] std::shared_ptr<const plan::partition> plan_for(const save_job& job, bool repeats) {
    next_ = repeats && of_state_ == job.common_hash ? last_ : nullptr;
    if (!next_) next_ = std::make_shared<const plan::partition>(plan_for(job));
    return next_;
  }
  /// The plan that a save would have now that repeats none.
  [[nodiscard]] plan::partition plan_for(const save_job& job) const {
    return {sizes_of(job), ranks_, columns_of(common_leaves(job))};
  }

  /// The next plan repeats none.
  void forget() noexcept { last_.reset(); }

  /// The save of the last plan is published. The checkpoint has `bytes[i]` bytes of the i-th leaf that all ranks have,
  /// followed by the bytes that each rank has of its own state.
  void saved(const save_job& job, std::vector<std::uint64_t> bytes) {
    last_ = std::move(next_);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].other = bytes[job.common_leaves + rank];
    bytes.resize(job.common_leaves);
    stored_ = std::move(bytes);
    if (of_state_ == job.common_hash && paths_.size() == job.common_leaves) return;
    of_state_ = job.common_hash;
    paths_.clear();
    in_memory_.clear();
    for (const auto& each : common_leaves(job)) {
      paths_.push_back(each.path);
      in_memory_.push_back(each.bytes());
    }
  }

 private:
  /// The bytes that leaves will have in files: those of the save before; in proportion if a leaf has another size now.
  [[nodiscard]] std::vector<plan::leaf_size> sizes_of(const save_job& job) const {
    auto sizes = plan::sizes_of(common_leaves(job));
    if (stored_.empty()) return sizes;
    if (of_state_ == job.common_hash) {
      for (std::size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i].elements != 0) sizes[i].bytes = stored_[i];
      return sizes;
    }
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::size_t i = 0; i < paths_.size(); ++i) known.emplace(paths_[i], i);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto at = known.find(job.what.leaves[i].path);
      if (at == known.end() || in_memory_[at->second] == 0 || sizes[i].elements == 0) continue;
      constexpr std::uint64_t one = std::uint64_t{1} << 16U;  // whole numbers: the same at all ranks
      const auto ratio = stored_[at->second] * one / in_memory_[at->second];
      sizes[i].bytes = sizes[i].bytes / one * ratio + sizes[i].bytes % one * ratio / one;
    }
    return sizes;
  }

  std::vector<plan::rank_load> ranks_;
  // Of the last save, by leaf:
  std::vector<std::uint64_t> stored_, in_memory_;  // bytes
  std::vector<std::string> paths_;
  std::uint64_t of_state_ = 0;                          // hash
  std::shared_ptr<const plan::partition> last_, next_;  // of the last checkpoint, and of the running save
};

/// A hash that is the same at two ranks only if they describe the same state, have the same plan for it, and know of as
/// many `deltas` that are not merged; never 0 or 1.
[[nodiscard]] inline std::uint64_t agreement_hash(const save_job& job, const plan::partition& plan,
                                                  std::size_t deltas) {
  const auto inputs = plan.hash();
  const std::uint64_t hashes[] = {job.common_hash, inputs.high, inputs.low, deltas};
  return checksum(std::as_bytes(std::span(hashes))) | 2U;
}

/// What a rank writes: its pieces of the plan, and its own leaves.
[[nodiscard]] inline std::vector<piece> share_of(const save_job& job, const plan::partition& plan, std::size_t rank) {
  auto pieces = plan.pieces_of(rank);
  for (std::size_t own = job.common_leaves; own < job.what.leaves.size(); ++own)
    pieces.push_back({.leaf = own, .first = 0, .count = job.what.leaves[own].count()});
  return pieces;
}

}  // namespace cairn::inline v0_1::detail
