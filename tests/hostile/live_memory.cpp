// SPDX-License-Identifier: MIT
// glibc's malloc with a count around it. RapidJSON calls malloc, and operator new does.
#include "hostile/live_memory.hpp"

#include <atomic>

#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOSTILE_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOSTILE_COUNTS 0
#else
#define HOSTILE_COUNTS 1
#endif
#else
#define HOSTILE_COUNTS 1
#endif

namespace {

std::atomic<std::ptrdiff_t> live{0}, peak{0}, before{0};

#if HOSTILE_COUNTS
void* count(void* memory) noexcept {
  if (memory == nullptr) return memory;
  const auto now = live += static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
  auto most = peak.load();
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}
void discount(void* memory) noexcept {
  if (memory != nullptr) live -= static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
}
#endif

}  // namespace

#if HOSTILE_COUNTS
extern "C" {
// The names under which glibc exports its own functions.
void* __libc_malloc(std::size_t bytes);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t bytes);        // NOLINT
void* __libc_realloc(void* memory, std::size_t bytes);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t bytes);  // NOLINT
void __libc_free(void* memory);                                   // NOLINT

void* malloc(std::size_t bytes) noexcept { return count(__libc_malloc(bytes)); }
void* calloc(std::size_t number, std::size_t bytes) noexcept { return count(__libc_calloc(number, bytes)); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return count(__libc_memalign(alignment, bytes));
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept { return count(__libc_memalign(alignment, bytes)); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  *memory = count(__libc_memalign(alignment, bytes));
  return *memory == nullptr ? 12 : 0;
}
/// Old and new memory are both there for a moment, unless the block grows in place.
void* realloc(void* memory, std::size_t bytes) noexcept {
  const auto old = memory == nullptr ? 0 : static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
  auto* const moved = __libc_realloc(memory, bytes);
  if (moved == nullptr && bytes != 0) return moved;
  if (moved != memory) count(moved);
  live -= old;
  return moved == memory ? count(moved) : moved;
}
void free(void* memory) noexcept {
  discount(memory);
  __libc_free(memory);
}
}
#endif

namespace hostile {

bool counts_memory() noexcept { return HOSTILE_COUNTS != 0; }

namespace detail {

void begin_peak() noexcept {
  before = live.load();
  peak = live.load();
}
std::size_t end_peak() noexcept { return static_cast<std::size_t>(peak - before); }

}  // namespace detail
}  // namespace hostile
