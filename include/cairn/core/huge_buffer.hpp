// Memory for many bytes: page-aligned, in huge pages where the system has them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "cairn/core/error.hpp"

namespace cairn {

/// Not initialized; pages that are never touched are not there. errc::io when the system has no memory to give.
class huge_buffer {
 public:
  static constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20U;

  huge_buffer() = default;
  explicit huge_buffer(std::size_t bytes) {
    const std::size_t unit = bytes < huge_page ? page : huge_page;
    bytes_ = (bytes + unit - 1) / unit * unit;
    if (bytes_ == 0) return;
    void* start = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) fail_io("allocate " + std::to_string(bytes_) + " bytes for", "a copy in memory");
    if (unit == huge_page) ::madvise(start, bytes_, MADV_HUGEPAGE);
    start_ = static_cast<std::byte*>(start);
  }
  huge_buffer(huge_buffer&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  huge_buffer& operator=(huge_buffer other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~huge_buffer() {
    if (start_ != nullptr) ::munmap(start_, bytes_);
  }

  /// All of it: what was asked for, rounded up to whole pages.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cairn
