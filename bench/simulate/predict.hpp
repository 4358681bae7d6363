// SPDX-License-Identifier: MIT
// How long saves and loads by many ranks take: a plan and the speeds of a machine -> predicted seconds. Also finds what
// writing a share costs, from measured writes.
//
// The model has no clock and no files. The parts of a save follow one another, and each part ends when its slowest rank
// has ended: a prediction is an upper bound where the parts of different ranks overlap. The shares are those of the
// plan, so their unevenness counts.
#pragma once

#include <cstdint>
#include <span>

#include "cairn/plan/partition.hpp"

namespace bench {

/// Seconds that one rank takes to write: base + per_byte * bytes + per_tensor * tensors. `calibrate` finds them.
struct write_cost {
  double base = 0;        ///< seconds of a write of nothing
  double per_byte = 0;    ///< seconds
  double per_tensor = 0;  ///< seconds

  /// Of a write of `bytes` in `tensors` pieces.
  [[nodiscard]] double seconds(std::uint64_t bytes, std::uint64_t tensors) const noexcept {
    return base + per_byte * static_cast<double>(bytes) + per_tensor * static_cast<double>(tensors);
  }
};

/// Nodes of equal ranks that write to one file system, and what Cairn costs there. Rates are bytes per second and above
/// 0, costs are seconds and 0 or more. The defaults are of no real machine: a large cluster with a parallel file
/// system.
struct machine {
  std::uint64_t ranks_per_node = 8;  ///< the last node may have fewer
  /// Ranks of a node that copy or encode at the same time, above 0. Fewer than there are cores, where these share what
  /// they need.
  double cores_per_node = 64;

  double copy = 10e9;                   ///< memory that a rank copies while the trainer waits
  write_cost encode{1e-4, 1e-9, 2e-6};  ///< of a rank's share with one core, by bytes in memory and pieces
  write_cost decode{1e-4, 5e-10, 2e-6};
  double ratio = 1;  ///< stored bytes over bytes in memory, above 0

  double rank_link = 3e9;         ///< stored bytes between a rank and the file system
  double node_link = 12e9;        ///< of all ranks of a node together
  double write = 500e9;           ///< of all ranks together, at the file system
  double read = 500e9;            ///< the same for loads
  double file = 2e-3;             ///< to create or open one file and to close it
  double files_per_second = 2e4;  ///< creations, or openings, of all ranks together; above 0

  double message = 2e-5;   ///< one step of a collective operation; N ranks take about log2(N) of them
  double per_leaf = 1e-6;  ///< of the index, at the leader
  double per_rank = 2e-6;  ///< the same: a record of a shard
};

/// Seconds of each part, for the slowest rank.
struct prediction {
  std::uint64_t largest_share = 0;  ///< bytes in memory, of the rank that has most
  double copy = 0;                  ///< for which `step` waits; a save that the trainer waits for does without
  double encode = 0;
  double create = 0;   ///< one file per rank
  double write = 0;    ///< through the links of rank and node and the file system, whichever takes longest
  double gather = 0;   ///< of the records, at the leader
  double publish = 0;  ///< the index, which is a file

  double read = 0;         ///< all ranks read and decode everything
  double read_shared = 0;  ///< each reads and decodes a share and broadcasts it

  /// From the call of `step` until the checkpoint is published.
  [[nodiscard]] double save() const noexcept { return copy + encode + create + write + gather + publish; }
  /// The faster way.
  [[nodiscard]] double load() const noexcept { return read < read_shared ? read : read_shared; }
};

/// One save of what all ranks hold, and one load by as many ranks; without what a rank has besides. The leaves of the
/// plan have their bytes in memory. Consecutive ranks share a node. O(leaves + ranks) time and memory.
/// std::invalid_argument: a number of the machine is negative or not finite, or 0 where it must not be.
[[nodiscard]] prediction simulate(const cairn::plan::partition& plan, const machine& on);

/// What one rank has written, and how long it took.
struct measured_write {
  std::uint64_t bytes = 0;    ///< written
  std::uint64_t tensors = 0;  ///< written, each as one piece
  double seconds = 0;         ///< that it took
};

/// The cost with the least squares of relative errors, of those with no negative part. A part that the samples cannot
/// tell from the others is 0: give samples of different sizes, and of different numbers of tensors for one size.
/// O(samples). std::invalid_argument: no samples, or one whose time is not positive and finite.
[[nodiscard]] write_cost calibrate(std::span<const measured_write> samples);

}  // namespace bench
