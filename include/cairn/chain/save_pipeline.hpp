// SPDX-License-Identifier: MIT
// Encodes and writes the shards of one save, in order, and publishes the checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/chain/delta_base.hpp"
#include "cairn/chain/save_job.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::detail {

/// What the other ranks need to know of the checkpoint that the leader has published.
struct published_by_leader {
  std::uint64_t bytes = 0, id = 0;
  bool is_delta = false;
  std::map<std::string, loss> lost{};  ///< as in save_report
};

/// What the leader learns of the share of another rank.
struct written_share {
  std::uint64_t own_bytes = 0;  ///< stored, of what that rank alone has
  std::vector<std::uint64_t> sample{};
};

/// What one rank of a group writes.
struct rank_share {
  std::size_t ranks = 1, rank = 0;
  std::span<const piece> pieces{};
  bool may_be_delta = true;  ///< the leader has found that the chain can be extended; at the leader: true
};

/// One save. Its shards are added all at once, or a few at a time where the state is larger than the memory for its copy. If it is
/// destroyed before `finish` has returned, the store is as before.
class save_pipeline {
 public:
  /// The save of `job` in `shards` shards. With a `base`, the checkpoint is a delta if its codecs use the parent and the chain can be
  /// extended; `finish` makes this checkpoint the new base. `store`, `job` and `base` must outlive the pipeline.
  save_pipeline(any_store& store, const save_job& job, std::size_t shards, delta_base* base = nullptr);
  /// The share of one rank in a save of `job` by a group: it becomes one shard. With a `base`, a delta, if the leader and this rank can extend the chain;
  /// the base keeps the values of the share alone.
  save_pipeline(any_store& store, const save_job& job, const rank_share& share, delta_base* base);
  ~save_pipeline();
  save_pipeline(const save_pipeline&) = delete;
  save_pipeline& operator=(const save_pipeline&) = delete;

  /// Encodes and writes the next shards. Copies of staged pieces may be overwritten, and are no longer used afterwards.
  void add(std::span<const std::vector<staged_piece>> shards);

  /// Of several ranks: the leader begins, and returns what the others need to join.
  [[nodiscard]] std::string begin();
  void join(std::string_view attempt);
  /// What the leader needs to know of the shards of this rank, after they have been added.
  [[nodiscard]] std::string record() const;
  /// At the leader: lists the shard of the next rank. `pieces` are its pieces of the leaves that all ranks have.
  written_share add_written(std::string_view record, std::span<const piece> pieces);

  /// Bytes of each leaf in all shards, at the leader, after they have been listed.
  [[nodiscard]] std::vector<std::uint64_t> stored_bytes() const;

  /// Whether the pieces may be encoded relative to the parent.
  [[nodiscard]] bool is_delta_allowed() const noexcept;
  /// Of the published checkpoint, after `finish`.
  [[nodiscard]] std::uint64_t id() const noexcept;
  /// At the others, when the leader has published the checkpoint: makes it the new base, and returns the report of this rank.
  [[nodiscard]] save_report published(const published_by_leader& what);

  /// Publishes the checkpoint. Call it once, after all shards have been added.
  [[nodiscard]] save_report finish();

 private:
  struct stages;
  std::unique_ptr<stages> self_;
};

/// Saves a job from the state's own memory, in `shards` shards.
save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards = 1, delta_base* base = nullptr);

}  // namespace cairn::inline v0_1::detail
