// SPDX-License-Identifier: MIT
// What a store on the disks of several hosts (cairn::each_host) gives to a checkpointer: what its ranks do together.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::detail {

class team;

/// The disks of the hosts of a group. Each rank publishes the shards that it writes, with the index of all: the
/// checkpoint is there when all ranks have done so. The functions of the store change what this rank has, and those
/// that take a team are called by all ranks.
class host_set {
 public:
  virtual ~host_set() = default;
  /// Locks what this rank has until the result is destroyed, finds out which checkpoints the hosts have, and copies
  /// each index to the hosts that lack it.
  [[nodiscard]] virtual stores::ownership meet(team& ranks) = 0;
  /// What the options ask for and the hosts do not allow; empty: nothing.
  [[nodiscard]] virtual std::string warning() const = 0;
  /// Copies to each host what it lacks of the checkpoint and of all that this is built on. errc::not_found;
  /// errc::corrupt: a shard is on no host.
  virtual void bring(const std::string& name, team& ranks) = 0;
  /// All ranks have published the checkpoint that `begin`, or `join`, has begun last.
  virtual void placed() = 0;
  /// After that: each rank sends its shard, or parts of it, to others, so that the loss of a host loses no shard.
  /// Returns whether that begins, the same at all ranks; never again after `cancel_sending`. `index`: its text.
  [[nodiscard]] virtual bool begin_sending(const std::string& index) = 0;
  /// Reads and writes the files until all are exchanged; another thread calls `pump` meanwhile. Throws what fails; the
  /// checkpoint is there all the same.
  virtual void send() = 0;
  /// Passes messages on, without waiting. Returns whether there were any.
  virtual bool pump(team& ranks) = 0;
  [[nodiscard]] virtual bool is_sending() const = 0;
  /// At all ranks: ends `send`.
  virtual void cancel_sending() noexcept = 0;
  /// Where ranks send to others: the newest checkpoint that survives the loss of any one host; empty: none.
  [[nodiscard]] virtual std::string newest_sent() const = 0;
  /// The publications of all checkpoints but those `without`.
  [[nodiscard]] virtual std::vector<std::string> publications(const std::set<std::string>& without) const = 0;
  /// Removes what this rank has of other publications: all ranks keep the same.
  virtual void keep_only(const std::vector<std::string>& publications) = 0;
  /// Removes what this rank has published of the checkpoint that has been begun last: others could not publish it.
  virtual void withdraw() noexcept = 0;
  /// Whether shards of the checkpoint are on no host.
  [[nodiscard]] virtual bool lacks_shards(const std::string& name) const = 0;
  /// The same at all ranks that have met, and nowhere else.
  [[nodiscard]] virtual const std::string& token() const noexcept = 0;
  /// See level_set::began.
  [[nodiscard]] virtual double began() const = 0;
};

/// The place of a store as all ranks name it, though each host may have a path of its own.
[[nodiscard]] inline std::string common_location(const any_store& store) {
  return store.hosts() ? "the disks of the hosts" : store.location();
}

}  // namespace cairn::inline v0_1::detail
