// SPDX-License-Identifier: MIT
// A pool of scratch memory: a thread takes memory that is free, so that not every block touches new pages.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::inline v0_1::detail {

/// Movable objects that are expensive to make: as many as there are threads that use one at the same time. Thread-safe.
template <class Memory>
class memory_pool {
 public:
  /// Calls `use(memory)` with an object that no other thread has, made by `make()` where none is free.
  template <class Make, class Use>
  auto with_memory(const Make& make, const Use& use) {
    auto free = take();
    Memory memory = free ? std::move(*free) : make();
    const auto result = use(std::as_const(memory));
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(memory));
    return result;
  }

 private:
  [[nodiscard]] std::optional<Memory> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::nullopt;
    std::optional<Memory> memory(std::move(free_.back()));
    free_.pop_back();
    return memory;
  }

  std::mutex mutex_;
  std::vector<Memory> free_;  // guarded by mutex_
};

}  // namespace cairn::inline v0_1::detail
