// SPDX-License-Identifier: MIT
// A store in a directory: one subdirectory per checkpoint, published by renaming it into place.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"

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

/// How a directory is written and locked.
struct directory_options {
  bool durable = true;  ///< publishing waits for the disk; new files are written with direct I/O
  /// How long the owner of another host must be silent before it counts as dead, above 0; the owner renews its lock
  /// four times per lease, which has to be longer than clients of the file system keep attributes (NFS and sshfs: some
  /// seconds). On one host a dead owner is noticed at once.
  std::chrono::milliseconds lease{60'000};
  scheduler_job job = scheduler_job::of_environment();  ///< whose earlier starts are dead
};

namespace detail {

class place_lock;
class shared_lock;

/// Whether a checkpoint of this name is published in the directory `path`. False also where that cannot be found out.
[[nodiscard]] bool has_publication(const std::string& path, std::string_view name);

}  // namespace detail

/// Checkpoints as subdirectories of `root`, which is created by the first save. A relative `root` is made absolute at
/// once: a later chdir does not change it, and messages have the absolute path. Each checkpoint is written under a
/// temporary name, synced and renamed to a free name: "a" or, while that is there, "a~2" and so on. The highest number
/// is the checkpoint; then the others are removed. Copies share the lock. Open files of a removed checkpoint stay
/// readable, unless another client of a network file system has removed it.
class directory {
 public:
  explicit directory(std::string root, directory_options options = {});

  [[nodiscard]] std::string location() const { return path_; }
  /// That of the options: for so long `lock` may wait.
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return options_.lease; }

  /// Excludes other processes, on all hosts that share the file system (`.lock` in the root; store/place_lock.hpp).
  /// Also removes what crashed processes left unfinished. Waits for at most `lease` if the last owner was of another
  /// host and may be dead. A forked child does not have the lock. errc::busy.
  [[nodiscard]] ownership lock();
  [[nodiscard]] std::unique_ptr<transaction> begin(std::string_view name);
  /// Also from other hosts. errc::not_found when the attempt has been published or has ended.
  [[nodiscard]] std::unique_ptr<transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] std::vector<std::string> list() const;
  /// Needs read permission for the root.
  [[nodiscard]] std::shared_ptr<const publication> open(std::string_view name) const;
  void remove(std::string_view name);

 protected:
  /// Set by a derived class: a publication gets the plain name of its checkpoint in the end, if that is free and no
  /// newer publication is there.
  bool settles_ = false;

 private:
  [[nodiscard]] std::shared_ptr<const detail::place_lock> checked_lock() const;

  std::string path_;
  directory_options options_;
  std::shared_ptr<detail::shared_lock> lock_;
};

}  // namespace cairn::inline v0_1::stores
