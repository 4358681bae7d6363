// Brings the machine into the same state before every measurement: a quiet disk and memory that is really
// there.
#pragma once

#include <cstddef>

#include <sys/mman.h>
#include <unistd.h>

namespace bench {

/// Writes what is dirty, then takes `bytes` of memory and gives them back, so that the kernel hands out the
/// same pages next. A virtual machine returns free pages to its host after about two seconds (free page
/// reporting); to get one back costs as much as to copy several. Without this, whoever runs after a pause
/// pays for that: writes measured 0.2 to 5 s.
inline void settle(std::size_t bytes) {
  ::sync();
  if (bytes == 0) return;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  ::munmap(memory, bytes);
}

}  // namespace bench
