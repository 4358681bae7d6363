// The process that has made an object: a forked child has a copy of the object, but not its threads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "cairn/core/error.hpp"

namespace cairn::detail {

/// The number of forks between the first process that counted them and this one. A handler counts them: getpid would cost a system call per
/// step, which takes longer than the rest of it. `vfork` and `_Fork` are not counted.
inline std::atomic<std::uint64_t> forks_to_here{0};

/// Tells a forked child from the process that has made the object.
class owner_process {
 public:
  owner_process() : forks_(forks_to_here) {
    static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++forks_to_here; });
    static_cast<void>(counts);
  }

  [[nodiscard]] bool is_here() const noexcept { return forks_ == forks_to_here; }

  /// errc::invalid in a forked child; `what` names the object.
  void check(std::string_view what) const {
    if (!is_here()) fail(errc::invalid, {what, " belongs to the parent process, which has forked this one"});
  }

 private:
  std::uint64_t forks_;
};

}  // namespace cairn::detail
