// SPDX-License-Identifier: MIT
// What a forked child must not use or keep: copies of objects, whose threads it does not have, and open files.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

/// How often this process and its ancestors have been forked since the first `owner_process` was made: each forked
/// child has a number that is larger by one. A handler of pthread_atfork counts, since `getpid` would be a system call
/// in each step, which takes longer than the rest of the step. `vfork` and `_Fork` are not counted.
CAIRN_ONE_PER_PROCESS inline std::atomic<std::uint64_t> fork_generation{0};

/// Remembers the process that has made it. A member of objects that must not be used in a forked child.
class CAIRN_ONE_PER_PROCESS owner_process {
 public:
  owner_process() : counter_(&fork_generation), forks_(*counter_) {
    static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++fork_generation; });
    static_cast<void>(counts);
  }

  [[nodiscard]] bool is_here() const noexcept { return forks_ == *counter_; }

  /// errc::invalid in a forked child; `what` names the object.
  void check(std::string_view what) const {
    if (!is_here()) fail(errc::invalid, {what, " belongs to the parent process, which has forked this one"});
  }

 private:
  const std::atomic<std::uint64_t>* counter_;  // of the shared library that has made it, whose handler counts
  std::uint64_t forks_;
};

}  // namespace cairn::inline v0_1::detail

namespace cairn::inline v0_1::posix {

/// For as long as it lives, a forked child closes its copy of a file, which is not open there then. Not noticed:
/// `vfork`, `_Fork` and raw system calls.
class CAIRN_ONE_PER_PROCESS closed_in_children {
 public:
  /// `file` outlives this object.
  explicit closed_in_children(descriptor& file) : file_(&file) {
    auto& all = files();
    const std::lock_guard lock(all.changing);
    all.open.push_back(file_);
  }
  ~closed_in_children() {
    auto& all = files();
    const std::lock_guard lock(all.changing);
    std::erase(all.open, file_);
  }
  closed_in_children(const closed_in_children&) = delete;
  closed_in_children& operator=(const closed_in_children&) = delete;

 private:
  struct open_files {
    std::mutex changing;  // held during a fork
    std::vector<descriptor*> open;
  };

  /// Never destroyed: threads may fork while the process ends.
  static open_files& files() {
    static open_files& all = *[] {
      auto* made = new open_files;
      ::pthread_atfork([] { files().changing.lock(); }, [] { files().changing.unlock(); }, &close_all);
      return made;
    }();
    return all;
  }

  static void close_all() {
    for (descriptor* each : files().open) *each = descriptor();
    files().open.clear();
    files().changing.unlock();
  }

  descriptor* file_;
};

}  // namespace cairn::inline v0_1::posix
