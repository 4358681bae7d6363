// SPDX-License-Identifier: MIT
// Checkpoints on the disks of the hosts of a group of ranks, none of which sees those of another host.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"

namespace cairn::inline v0_1 {

namespace detail {
class erasure_code;
class host_set;
class host_slots;
}  // namespace detail

/// How the disks of hosts are used.
struct each_host_options {
  /// What tells hosts apart; empty: the boot id of the kernel. Ranks with the same text use the same directory.
  std::string host{};
  /// Each rank also sends its shard to a rank on another host, for when its own is lost. errc::unsupported for a group
  /// that is no messaging_group; on one host nothing is sent, and the event `unmatched` says so.
  bool partner = false;
  /// Or: a cairn::parity (cairn/parity.hpp), for which each rank sends parts of its shard to ranks on other hosts. All
  /// hosts have the same number of ranks, else errc::invalid. A restore from parity needs it, too. Else as `partner`.
  std::shared_ptr<const detail::erasure_code> parity{};
  stores::directory_options directory{};  ///< how each slot is written and locked
};

/// A store for a checkpointer of a group: each rank saves its share below `root` of its own host, in `slot-00` and so
/// on, and no rank reads or writes what is on another host. A restore takes the newest checkpoint of which the hosts
/// have all shards, and sends each host those that it lacks, over the group; the number and the order of ranks and
/// hosts may have changed. Restoring one with a shard on no host is errc::corrupt. Without a group there is one rank.
/// With `partner`, a checkpoint that has been sent survives the loss of hosts, unless two of them are partners; with
/// `parity`, that of parity::lost hosts of each set. Ranks of one host have the same directory, else the first call
/// throws errc::invalid. Each rank has its own each_host.
class each_host {
 public:
  /// errc::invalid: see stores::directory.
  explicit each_host(std::string root, each_host_options options = {});

  // The functions of a store, after a `restore`, `step`, `save` or `wait` of its checkpointer; errc::invalid before, as
  // is checkpointer::steps.
  [[nodiscard]] std::string location() const;             ///< `root`
  [[nodiscard]] stores::ownership lock();                 ///< that of the checkpointer
  [[nodiscard]] std::chrono::milliseconds lease() const;  ///< of a directory
  [[nodiscard]] std::unique_ptr<stores::transaction> begin(std::string_view name);
  [[nodiscard]] std::unique_ptr<stores::transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] std::vector<std::string> list() const;
  [[nodiscard]] std::shared_ptr<const stores::publication> open(std::string_view name) const;
  void remove(std::string_view name);  ///< what this rank has

 private:
  friend class any_store;
  [[nodiscard]] std::shared_ptr<detail::host_set> host_set_of_places() const;

  std::shared_ptr<detail::host_slots> self_;
};

}  // namespace cairn::inline v0_1
