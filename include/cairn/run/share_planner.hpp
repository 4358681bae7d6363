// How the state is divided between the ranks of a group, from the bytes that the save before has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cairn/chain/save_job.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/plan/partition.hpp"
#include "cairn/run/own_state.hpp"

namespace cairn::detail {

/// The same at all ranks, as its inputs are.
class share_planner {
 public:
  /// Call it first. A rank of weight 0 writes nothing but its own state.
  void set_weights(std::span<const std::uint64_t> of_ranks) {
    ranks_.clear();
    for (const auto weight : of_ranks) ranks_.push_back({.weight = weight});
  }

  /// The plan of a save of what all ranks have, from the bytes that `saved` was given if the state is the same, else from those in memory. With
  /// `repeats`, that of the last save of the same state. O(leaves + ranks).
  [[nodiscard]] plan::partition plan_for(const save_job& job, bool repeats) {
    if (!repeats || used_for_ != common_hash(job)) {
      used_sizes_ = sizes_of(job);
      used_ranks_ = ranks_;
      used_for_ = common_hash(job);
    }
    return {used_sizes_, used_ranks_};
  }
  /// The plan that a save would have now that repeats none.
  [[nodiscard]] plan::partition plan_for(const save_job& job) const { return {sizes_of(job), ranks_}; }

  /// The checkpoint has `bytes[i]` bytes of the i-th leaf that all ranks have, followed by the bytes that each rank has of its own state.
  void saved(const save_job& job, std::vector<std::uint64_t> bytes) {
    of_state_ = common_hash(job);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].other = bytes[job.common_leaves + rank];
    bytes.resize(job.common_leaves);
    stored_ = std::move(bytes);
  }

 private:
  [[nodiscard]] std::vector<plan::leaf_size> sizes_of(const save_job& job) const {
    auto sizes = plan::sizes_of(common_leaves(job));
    if (stored_.size() == sizes.size() && of_state_ == common_hash(job))
      for (std::size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i].elements != 0) sizes[i].bytes = stored_[i];
    return sizes;
  }

  std::vector<plan::rank_load> ranks_;
  std::vector<std::uint64_t> stored_;        // by leaf
  std::uint64_t of_state_ = 0;               // hash
  std::vector<plan::leaf_size> used_sizes_;  // of the last plan
  std::vector<plan::rank_load> used_ranks_;
  std::uint64_t used_for_ = 0;
};

/// What a rank writes: its pieces of the plan, and its own leaves.
[[nodiscard]] inline std::vector<piece> share_of(const save_job& job, const plan::partition& plan, std::size_t rank) {
  auto pieces = plan.pieces_of(rank);
  for (std::size_t own = job.common_leaves; own < job.what.leaves.size(); ++own)
    pieces.push_back({.leaf = own, .first = 0, .count = job.what.leaves[own].count()});
  return pieces;
}

}  // namespace cairn::detail
