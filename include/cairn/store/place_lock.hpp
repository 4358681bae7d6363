// SPDX-License-Identifier: MIT
// The lock of a store's root, which excludes processes of all hosts that share its file system.
//
// The lock is a directory, `.lock`, with one file, `owner`. It is made under a hidden name and renamed to `.lock`: a
// rename fails where a directory is that is not empty, on all file systems, so that one process succeeds. To release
// it, the owner deletes its file.
//
// A crashed owner leaves it. Another process takes it over when it knows that the owner is dead:
// - an owner of the same kernel and mount holds a lock of the kernel on its file (F_OFD_SETLK), which ends with the
//   process; one of the same machine, but another mount, has ended if its process has;
// - an owner of another host renews its lease: it sets the time of its file every quarter of it. It is dead when
//   the time has not changed for a whole lease. Times of one file system are compared, not clocks of hosts;
// - an owner of an earlier start of the same job of a scheduler is dead.
//
// An owner that was stopped for longer than its lease reads the file by its name before each change, and finds another
// random number in it. Open files and inodes do not tell: file systems in user space such as sshfs answer by paths.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cairn/core/error.hpp"
#include "cairn/store/checkpoint_directory.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/system/owner_process.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores::detail {

/// Which process has the lock: what it writes for others.
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
  /// Its `machine_id` and `process_id`, as in the names of what it writes; empty if one of them is not known.
  [[nodiscard]] std::string writer() const;
  /// For messages, such as "process 42 on host node7".
  [[nodiscard]] std::string name_for(const owner_record& reader) const;
};

/// A JSON object.
[[nodiscard]] std::string to_text(const owner_record& owner);
/// nullopt for what `to_text` of this version or a later one does not write.
[[nodiscard]] std::optional<owner_record> parse_owner(std::string_view text);

/// The name of the lock in the root, and of the file in it.
inline constexpr std::string_view lock_name = ".lock", owner_file = "owner";

/// Held until it is destroyed. Thread-safe.
class place_lock {
 public:
  /// Waits for at most `lease`, for an owner of another host that may be dead. errc::busy: another process, or another
  /// object of this one, has the lock.
  place_lock(std::shared_ptr<const open_directory> root, std::chrono::milliseconds lease, scheduler_job job);
  ~place_lock();
  place_lock(const place_lock&) = delete;
  place_lock& operator=(const place_lock&) = delete;

  /// errc::busy if another process has taken the lock over: this one was stopped for longer than its lease.
  /// errc::invalid in a forked child.
  void check() const;
  /// errc::busy if the lock is lost; nothing where that cannot be found out.
  void check_lost() const;
  /// errc::io if the root was moved or deleted.
  void check_root() const;

  /// False in a forked child, where the lock is not held.
  [[nodiscard]] bool is_here() const noexcept { return process_.is_here(); }
  /// The present, by the times of the file system.
  [[nodiscard]] file_time now() const {
    if (::futimens(file_.get(), nullptr) != 0) fail_io("set the time of", here_.file(owner_file));
    return time_of(file_.get(), here_.path);
  }
  /// The owner from which the lock was taken over, as owner_record::writer names it; empty if there was none, or if
  /// that is not known.
  [[nodiscard]] const std::string& former_writer() const noexcept { return former_writer_; }

 private:
  void make_own();
  [[nodiscard]] bool write_record();
  [[nodiscard]] bool try_take();
  void release_dead_owner();
  [[nodiscard]] bool is_dead(const open_directory& held, file_time now, std::optional<owner_record>& owner) const;
  [[nodiscard]] bool is_own() const;
  void remove() noexcept;
  void renew();

  std::shared_ptr<const open_directory> root_;
  std::chrono::milliseconds lease_;
  owner_record self_;
  std::string former_writer_;
  std::string name_;  // of the directory: hidden, then that of the lock
  open_directory here_;
  posix::descriptor file_;
  posix::closed_in_children closed_{file_};
  cairn::detail::owner_process process_;

  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ended_ = false;  // guarded by mutex_
  std::thread renewing_;
};

/// Does what the owner of `lock` does, if that is not null. An error becomes errc::busy if the lock is lost: the next
/// owner removes what this one writes.
template <class Act>
auto guarded(const std::shared_ptr<const place_lock>& lock, const Act& act) {
  try {
    return act();
  } catch (const error&) {
    if (lock) lock->check_lost();
    throw;
  }
}

}  // namespace cairn::inline v0_1::stores::detail
