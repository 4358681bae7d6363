// SPDX-License-Identifier: MIT
// A bound on all memory that is allocated at the same time, by the hooks of the address sanitizer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <sanitizer/allocator_interface.h>

namespace fuzz {

/// While one lives, aborts when the bytes that were allocated since its construction, and not freed, exceed the bound.
/// There is one at a time.
class memory_bound {
 public:
  explicit memory_bound(std::size_t bytes) {
    static const bool installed = __sanitizer_install_malloc_and_free_hooks(note_allocation, note_release) != 0;
    if (!installed) std::abort();
    live_ = 0;
    most_ = static_cast<std::ptrdiff_t>(bytes);
  }
  memory_bound(const memory_bound&) = delete;
  memory_bound& operator=(const memory_bound&) = delete;
  ~memory_bound() { most_ = 0; }

 private:
  static void note_allocation(const volatile void* /*memory*/, std::size_t bytes) {
    if (most_ == 0) return;
    const auto live = live_ += static_cast<std::ptrdiff_t>(bytes);
    if (live <= most_) return;
    std::fprintf(stderr, "%td bytes are allocated, the last %zu at once; at most %td are allowed\n", live, bytes,
                 most_.load());
    std::abort();
  }
  static void note_release(const volatile void* memory) {
    if (most_ == 0 || memory == nullptr) return;
    live_ -= static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(memory));
  }

  static inline std::atomic<std::ptrdiff_t> live_{0}, most_{0};  // 0: no bound
};

}  // namespace fuzz
