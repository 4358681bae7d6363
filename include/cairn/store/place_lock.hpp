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

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/core/error.hpp"
#include "cairn/store/root_directory.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/owner_process.hpp"
#include "cairn/system/parallel.hpp"
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
  [[nodiscard]] static owner_record of_this_process(std::uint64_t device, const scheduler_job& job) {
    char host[256]{};
    if (::gethostname(host, sizeof host - 1) != 0) host[0] = 0;
    return {.host = cairn::detail::to_utf8(host),
            .boot = boot_of_this_machine(),
            .device = device,
            .processes = namespace_of_this_process(),
            .process = static_cast<std::uint64_t>(::getpid()),
            .started = start_of(static_cast<std::uint64_t>(::getpid())),
            .random = random_number(),
            .job = {cairn::detail::to_utf8(job.id), job.restarts}};
  }

  /// Whether the kernel of this process sees the locks of the owner of `other`: it is the same, and the same mount.
  [[nodiscard]] bool shares_locks_with(const owner_record& other) const {
    return !boot.empty() && boot == other.boot && device == other.device;
  }
  /// Whether `other` is a process of this machine, with ids that this one sees, that has ended.
  [[nodiscard]] bool sees_end_of(const owner_record& other) const {
    const bool is_visible = !boot.empty() && boot == other.boot && processes != 0 && processes == other.processes;
    return is_visible && started != 0 && other.started != 0 && start_of(other.process) != other.started;
  }
  [[nodiscard]] bool is_restart_of(const owner_record& other) const {
    return !job.id.empty() && job.id == other.job.id && job.restarts > other.job.restarts;
  }
  /// Its `machine_id` and `process_id`, as in the names of what it writes; empty if one of them is not known.
  [[nodiscard]] std::string writer() const {
    const auto on = machine_id(boot, device), id = process_id(processes, process, started);
    return on.empty() || id.empty() ? std::string() : on + id;
  }
  /// For messages, such as "process 42 on host node7".
  [[nodiscard]] std::string name_for(const owner_record& reader) const {
    const bool is_near = !boot.empty() && boot == reader.boot && host == reader.host;
    if (is_near && process == reader.process && started == reader.started) return "another object of this process";
    return sentence({"process ", process, is_near ? "" : " on host ", is_near ? "" : host});
  }
};

template <class Io>
void describe(Io& io, cairn::detail::described<Io, owner_record>& owner) {
  io.object([&] {
    io.line();
    io.field("host", owner.host);
    io.field("boot", owner.boot);
    io.line();
    io.field("device", owner.device);
    io.field("processes", owner.processes);
    io.line();
    io.field("process", owner.process);
    io.field("started", owner.started);
    io.line();
    io.field("random", owner.random);
    io.optional("locked", owner.is_locked);
    io.line();
    io.field("job", owner.job.id);
    io.field("restarts", owner.job.restarts);
    if constexpr (Io::reads) io.ignore_others();  // of later versions
  });
  constexpr std::size_t longest_name = 255;
  io.require(owner.host.size() <= longest_name &&
                 std::all_of(owner.host.begin(), owner.host.end(), [](char each) { return each > ' ' && each < 0x7f; }),
             "has no name of a host");
}

/// The owner whose text a lock has; nullopt for what is not the text of one, of this version or a later one.
template <class Owner = owner_record>
[[nodiscard]] std::optional<Owner> parse_owner(std::string_view text) {
  try {
    return cairn::detail::from_json<Owner>(text, "the owner of a lock");
  } catch (const error&) {
    return std::nullopt;
  }
}

/// The name of the lock in the root, and of the file in it.
inline constexpr std::string_view lock_name = ".lock", owner_file = "owner";

/// Deletes a lock's file and directory, unless another process's are there. `held` is open: no other lock loses a file.
inline void delete_lock(const open_directory& root, const std::string& name, const open_directory& held) {
  ::unlinkat(held.fd.get(), std::string(owner_file).c_str(), 0);
  ::unlinkat(root.fd.get(), name.c_str(), AT_REMOVEDIR);
}

/// As many bytes of a record are read.
inline constexpr std::size_t longest_record = 2048;

[[nodiscard]] inline posix::descriptor open_owner(int directory, const std::string& name) {
  return posix::open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/// Held until it is destroyed. Thread-safe.
class place_lock {
 public:
  /// Waits for at most `lease`, for an owner of another host that may be dead. errc::busy: another process, or another
  /// object of this one, has the lock.
  place_lock(std::shared_ptr<const open_directory> root, std::chrono::milliseconds lease, const scheduler_job& job)
      : root_(std::move(root)), lease_(lease), self_(owner_record::of_this_process(device_of(*root_), job)) {
    try {
      make_own();
      constexpr int most = 100;
      for (int tries = 0; !try_take(); ++tries) {
        if (tries == most)
          fail(errc::busy, {"other processes lock ", root_->path, ", or hold files in its ", lock_name});
        if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        release_dead_owner();
      }
      for (const auto& entry : root_->entries())
        if (hidden_checkpoint(entry) == lock_name)
          if (const auto left = open_in(*root_, entry); left.fd) delete_lock(*root_, entry, left);
      renewing_ = cairn::detail::start_thread([this] { renew(); });
    } catch (...) {
      remove();
      throw;
    }
  }
  ~place_lock() {
    {
      const cairn::detail::mutex_lock lock(mutex_);
      is_ended_ = true;
    }
    ends_.notify_all();
    renewing_.join();
    file_ = {};  // NFS keeps the name of an open file that is deleted, and then the directory
    remove();
  }
  place_lock(const place_lock&) = delete;
  place_lock& operator=(const place_lock&) = delete;

  /// errc::busy if another process has taken the lock over: this one was stopped for longer than its lease.
  /// errc::invalid in a forked child.
  void check() const {
    process_.check("the lock of " + root_->path);
    check_root();
    if (is_own()) return;
    fail(errc::busy, {"another process has taken over ", root_->path,
                      ", since this one did not renew its lease in time or its ", lock_name, " was deleted"});
  }
  /// errc::io if the root was moved or deleted.
  void check_root() const {
    const auto open = status_of(root_->fd.get(), root_->path);
    struct stat there{};
    if (::stat(root_->path.c_str(), &there) != 0 && errno != ENOENT) fail_io("look at", root_->path);
    if (there.st_ino != open.st_ino || there.st_dev != open.st_dev)
      fail(errc::io, {"the directory ", root_->path, " was moved or deleted while it was in use"});
  }

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
  /// Makes the lock under a hidden name.
  void make_own() {
    constexpr int most = 100;
    for (int tries = 0; tries < most; ++tries) {  // an owner may take it for a leftover at any time
      file_ = {};
      name_ = new_hidden_name(*root_, lock_name);
      if (::mkdirat(root_->fd.get(), name_.c_str(), 0777) != 0 &&
          errno != EEXIST)  // NFS: the second of a request sent twice
        fail_io("create the directory", root_->file(name_));
      here_ = open_in(*root_, name_);
      if (!here_.fd) continue;
      file_ = posix::open_at(here_.fd.get(), std::string(owner_file), O_RDWR | O_CREAT | O_EXCL);
      if (file_ && write_record()) return;
      if (!posix::is_gone(errno)) fail_io(file_ ? "write" : "create", here_.file(owner_file));
    }
    fail(errc::busy, {"other processes lock ", root_->path, " all the time"});
  }
  /// False, with errno, if the file cannot be written.
  [[nodiscard]] bool write_record() {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    // A file system without locks, or one whose lock manager does not answer: the lease alone keeps others away.
    self_.is_locked = posix::retried([&] { return ::fcntl(file_.get(), F_OFD_SETLK, &whole); }) == 0;
    const auto text = cairn::detail::to_json(self_);
    for (std::size_t done = 0; done < text.size();) {
      const auto count = posix::retried_write(
          [&] { return ::pwrite(file_.get(), text.data() + done, text.size() - done, static_cast<off_t>(done)); });
      if (count == 0) errno = ENOSPC;
      if (count <= 0) return false;
      done += static_cast<std::size_t>(count);
    }
    // Other hosts read the record as soon as it has its name. A file system without fsync has no other hosts.
    return posix::retried([&] { return ::fsync(file_.get()); }) == 0 || errno == EINVAL;
  }
  /// Gives the lock its name. False if another one has it.
  [[nodiscard]] bool try_take() {
    if (rename_in(*root_, name_, std::string(lock_name), here_)) {
      name_ = lock_name;
      return true;
    }
    if (errno == EEXIST) return false;
    if (errno != ENOENT) fail_io("create the lock", root_->file(lock_name));
    make_own();  // another process took it for a leftover
    return false;
  }
  /// Releases the lock of a dead process. errc::busy if its owner lives.
  void release_dead_owner() {
    const auto held = open_in(*root_, std::string(lock_name));
    if (!held.fd) return;
    struct stat about{};
    if (::futimens(file_.get(), nullptr) != 0 || ::fstat(file_.get(), &about) != 0) {
      if (errno == ESTALE) return make_own();  // another host took it for a leftover
      fail_io("set the time of", here_.file(owner_file));
    }
    std::optional<owner_record> owner;
    if (!is_dead(held, time_in(about), owner))
      fail(errc::busy, {owner ? owner->name_for(self_) : "another process", " saves to ", root_->path,
                        ": wait until it ends, or use another directory"});
    delete_lock(*root_, std::string(lock_name), held);
    if (owner) former_writer_ = owner->writer();
  }
  [[nodiscard]] bool is_dead(const open_directory& held, file_time now, std::optional<owner_record>& owner) const {
    using clock = std::chrono::steady_clock;
    const auto pause = [&] {
      std::this_thread::sleep_for(std::clamp<std::chrono::milliseconds>(lease_ / 20, std::chrono::milliseconds(1),
                                                                        std::chrono::milliseconds(200)));
    };
    const auto stale_end = clock::now() + lease_;
    std::optional<file_time> first;
    clock::time_point end;
    while (true) {
      // Opened each time: network file systems then ask the server for the file's time.
      const auto file = open_owner(held.fd.get(), std::string(owner_file));
      const auto text = file ? posix::beginning_of(file.get(), longest_record) : std::nullopt;
      struct stat about{};
      if (!text || ::fstat(file.get(), &about) != 0) {
        if (errno == ENOENT) return true;  // it is being released
        if (errno != ESTALE) fail_io("read", held.file(owner_file));
        if (!posix::is_same(root_->fd.get(), std::string(lock_name), held.fd.get())) return true;  // it is released
        if (clock::now() >= stale_end)
          return true;  // names may be remembered, but there was nothing to renew for a whole lease
        pause();
        continue;
      }
      owner = parse_owner(*text);

      struct flock probe{};
      probe.l_type = F_WRLCK;
      const bool has_locks = ::fcntl(file.get(), F_OFD_GETLK, &probe) == 0;
      if (has_locks && owner && owner->is_locked && self_.shares_locks_with(*owner)) return probe.l_type == F_UNLCK;
      if (owner && (self_.sees_end_of(*owner) || self_.is_restart_of(*owner))) return true;
      if (has_locks && probe.l_type != F_UNLCK) return false;

      const auto renewed = time_in(about);
      if (!first) {
        first = renewed;
        const auto age = now - renewed;
        if (age >= lease_) return true;
        end = clock::now() + std::min<file_time>(lease_, lease_ - age);
      }
      if (renewed != *first) return false;
      if (clock::now() >= end) return true;
      pause();
    }
  }
  /// Whether the lock has its name, and is that of this object.
  [[nodiscard]] bool is_own() const {
    const auto name = sentence({lock_name, "/", owner_file});
    const auto file = open_owner(root_->fd.get(), name);
    const auto text = file ? posix::beginning_of(file.get(), longest_record) : std::nullopt;
    if (!text && !posix::is_gone(errno)) fail_io("read", root_->file(name));
    return text && *text == cairn::detail::to_json(self_).substr(0, longest_record);
  }
  void remove() noexcept {
    file_ = {};  // NFS and FUSE keep the name of an open file that is deleted, and then the directory
    try {
      if (name_ == lock_name && !is_own()) return;
    } catch (...) {  // what is open is its own, unless the file system goes by paths
    }
    if (here_.fd) delete_lock(*root_, name_, here_);
  }
  void renew() {
    cairn::detail::mutex_lock lock(mutex_);
    while (!is_ended_)
      if (!lock.wait_until(ends_, std::chrono::steady_clock::now() + lease_ / 4)) ::futimens(file_.get(), nullptr);
  }

  std::shared_ptr<const open_directory> root_;
  std::chrono::milliseconds lease_;
  owner_record self_;
  std::string former_writer_;
  std::string name_;  // of the directory: hidden, then that of the lock
  open_directory here_;
  posix::descriptor file_;
  posix::closed_in_children closed_{file_};
  cairn::detail::owner_process process_;

  cairn::detail::mutex mutex_;
  std::condition_variable ends_;
  bool is_ended_ CAIRN_GUARDED_BY(mutex_) = false;
  std::thread renewing_;
};

/// Does what the owner of `lock` does, if that is not null. An error becomes errc::busy if the lock is lost: the next
/// owner removes what this one writes.
template <class Lock, class Act>
decltype(auto) guarded(const std::shared_ptr<const Lock>& lock, const Act& act) {
  try {
    return act();
  } catch (const error&) {
    try {
      if (lock) lock->check();
    } catch (const error& failure) {
      if (failure.code() == errc::busy) throw;
    }
    throw;
  }
}

}  // namespace cairn::inline v0_1::stores::detail
