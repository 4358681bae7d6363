// SPDX-License-Identifier: MIT
// Which process saves to a place: what the owner of a lock writes for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::stores {

/// A job of a cluster's scheduler. A process of a later restart of the same job takes the lock of an earlier one at
/// once: the scheduler has ended that, also where its host cannot be asked.
struct scheduler_job {
  std::string id{};            ///< empty: not known
  std::uint64_t restarts = 0;  ///< how often the job was restarted before this process was started

  /// From the environment: of Slurm (SLURM_JOB_ID, SLURM_RESTART_COUNT) or torchelastic (TORCHELASTIC_RUN_ID,
  /// TORCHELASTIC_RESTART_COUNT).
  [[nodiscard]] static scheduler_job of_environment();
};

namespace detail {

/// 8 hexadecimal digits that are the same for all processes of this machine that use the mount `device`; empty if the
/// boot is not known.
[[nodiscard]] std::string machine_id(std::uint64_t device);

/// 8 hexadecimal digits that differ between processes of a machine, also such as have ended; empty if the kernel does
/// not tell. Forks by `vfork`, `_Fork` or a raw system call are not noticed.
[[nodiscard]] std::string process_id();

struct owner_record {
  std::string host{};
  std::string boot{};           ///< the kernel's random id of this boot; empty: not known
  std::uint64_t device = 0;     ///< of the place, as this machine numbers it
  std::uint64_t processes = 0;  ///< the namespace of ids of processes; 0: not known
  std::uint64_t process = 0;    ///< its id
  std::uint64_t started = 0;    ///< ticks from boot to the start of the process; 0: not known
  std::uint64_t random = 0;     ///< no two locks have the same
  bool is_locked = false;       ///< the kernel holds a lock on the file of this record
  scheduler_job job{};

  /// Of this process, for a new lock of a place on `device`.
  [[nodiscard]] static owner_record of_this_process(std::uint64_t device, scheduler_job job);

  /// Whether the kernel of this process sees the locks of the owner of `other`: it is the same, and the same mount.
  [[nodiscard]] bool shares_locks_with(const owner_record& other) const {
    return !boot.empty() && boot == other.boot && device == other.device;
  }
  /// Whether `other` is a process of this machine, with ids that this one sees, that has ended.
  [[nodiscard]] bool sees_end_of(const owner_record& other) const;
  [[nodiscard]] bool is_restart_of(const owner_record& other) const {
    return !job.id.empty() && job.id == other.job.id && job.restarts > other.job.restarts;
  }
  /// See `machine_id`.
  [[nodiscard]] std::string machine() const;
  /// Its `machine_id` and `process_id`, as in the names of what it writes; empty if one of them is not known.
  [[nodiscard]] std::string writer() const;
  /// For messages, such as "process 42 on host node7".
  [[nodiscard]] std::string name_for(const owner_record& reader) const;
};

/// A JSON object.
[[nodiscard]] std::string to_text(const owner_record& owner);
/// nullopt for what `to_text` of this version or a later one does not write.
[[nodiscard]] std::optional<owner_record> parse_owner(std::string_view text);

}  // namespace detail
}  // namespace cairn::inline v0_1::stores
