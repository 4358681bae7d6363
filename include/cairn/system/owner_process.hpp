// SPDX-License-Identifier: MIT
// Detects that an object is used in a forked child: the child has a copy of the object, but not its threads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"

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
