// SPDX-License-Identifier: MIT
// Two threads and memcpy.
#include "stall/copy.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "common/statistics.hpp"
#include "stall/trainer.hpp"

namespace bench {
namespace {

/// Copies the bytes [begin, end) of all arrays, taken one after the other, to the same place in `to`.
void copy_range(std::span<const std::span<const float>> arrays, std::size_t begin, std::size_t end, std::byte* to) {
  std::size_t at = 0;
  for (const auto& array : arrays) {
    const auto first = std::max(begin, at);
    const auto last = std::min(end, at + array.size_bytes());
    if (first < last) std::memcpy(to + first, std::as_bytes(array).data() + (first - at), last - first);
    at += array.size_bytes();
  }
}

}  // namespace

copy_target::copy_target(const training_state& state) {
  const auto bytes = size_of(state).bytes;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);
  memory_ = {static_cast<std::byte*>(memory), bytes};
}

copy_target::~copy_target() { ::munmap(memory_.data(), memory_.size()); }

double copy_target::copy(const training_state& state) {
  const auto arrays = arrays_of(state);
  return seconds_of([&] {
    const auto half = memory_.size() / 2;
    std::thread other([&] { copy_range(arrays, half, memory_.size(), memory_.data()); });
    copy_range(arrays, 0, half, memory_.data());
    other.join();
  });
}

}  // namespace bench
