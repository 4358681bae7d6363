// Memory for bytes that are on their way: uninitialised, page-aligned, made on first use.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace cairn {

/// Aligned for any element and for direct I/O. Pages that are never touched are not there.
class page_buffer {
 public:
  page_buffer() = default;
  explicit page_buffer(std::size_t bytes) { static_cast<void>(first(bytes)); }

  /// The first `bytes` bytes, uninitialised where the buffer has to grow.
  [[nodiscard]] std::span<std::byte> first(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
      bytes_ = bytes;
    }
    return {memory_.get(), bytes};
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct free_aligned {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<std::byte, free_aligned> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace cairn
