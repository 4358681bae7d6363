// SPDX-License-Identifier: MIT
// How checkpointers merge: through functions that only programs that include cairn/merge.hpp contain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cairn/chain/options.hpp"
#include "cairn/core/config.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/shard_metadata.hpp"

namespace cairn::inline v0_1::detail {

/// One rank's part of a merge by a group of ranks: it merges and writes the pieces that it has in the newest checkpoint of the chain, as one shard. None of
/// its functions communicates. Destroyed before the checkpoint is published, it leaves the chain as it was.
class joint_merge {
 public:
  joint_merge() = default;
  joint_merge(const joint_merge&) = delete;
  joint_merge& operator=(const joint_merge&) = delete;
  virtual ~joint_merge() = default;

  /// 1. At the leader: begins the merged checkpoint. Returns what the others need to join it.
  [[nodiscard]] virtual std::string begin() = 0;
  /// At the others.
  virtual void join(std::string_view begun) = 0;
  /// 2. Merges and writes the share of this rank, and closes the chain.
  virtual void write_share() = 0;
  /// 3. What the leader needs to know of it.
  [[nodiscard]] virtual std::string record() const = 0;
  /// 4. At the leader: publishes the checkpoint, of the records of all ranks.
  [[nodiscard]] virtual merge_report publish(std::span<const std::string> records) = 0;
  /// At the others, when it is published: `bytes` in all files.
  [[nodiscard]] virtual merge_report published(std::uint64_t bytes, bool is_whole) const = 0;
};

/// Which chain a group of ranks merges, and which rank this is.
struct joint_merge_job {
  checkpoint_ref newest;
  std::size_t ranks = 1, rank = 0;
  merge_options how{};
};

struct merge_functions {
  merge_report (*merge)(any_store&, const std::string& name, const merge_options&);
  /// Opens the chain. `store` must outlive the result.
  std::unique_ptr<joint_merge> (*open_joint)(any_store& store, const joint_merge_job&);
};

/// Null when no unit of the program includes cairn/merge.hpp. Set before main.
CAIRN_ONE_PER_PROCESS inline constinit std::atomic<const merge_functions*> known_merge{nullptr};

}  // namespace cairn::inline v0_1::detail
