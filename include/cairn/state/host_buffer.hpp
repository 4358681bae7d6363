// SPDX-License-Identifier: MIT
// Buffers on the host that stand for arrays on a device, and keys for addresses in different memories.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "cairn/core/leaf.hpp"
#include "cairn/state/device_copies.hpp"

namespace cairn::inline v0_1::detail {

/// An address, and the memory that it is an address in.
struct memory_key {
  const void* address;
  const void* space;

  memory_key(const void* memory, const device_copies* device) noexcept
      : address(memory),
        space(!device           ? nullptr
              : device->context ? device->context
                                : &device_space) {}

  friend bool operator==(const memory_key&, const memory_key&) = default;

  /// Spreads pages over the table, and keeps the arrays of a page near each other.
  struct hash {
    [[nodiscard]] std::size_t operator()(const memory_key& key) const noexcept {
      const auto at = reinterpret_cast<std::uintptr_t>(key.address), on = reinterpret_cast<std::uintptr_t>(key.space);
      const std::uint64_t page = ((at >> 12U) ^ (on << 8U)) * 0x9E3779B97F4A7C15U;
      return (page >> 32U) ^ ((at >> 4U) & 0xFFU);
    }
  };

 private:
  static constexpr char device_space = 0;
};

/// A buffer on the host that stands for an array on a device.
class host_buffer {
 public:
  /// Makes a buffer for `view`, whose memory is on a device, and moves `view` into it. The buffer is not filled.
  /// errc::invalid: there are gaps between the elements, or a copy function is missing.
  host_buffer(std::string path, memory_view& view, const device_copies& copies);

  /// Copies from the device, or to it. Each throws what the copy function throws, as cairn::error with the path.
  void read_device() const;
  void write_device() const;

  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return memory_; }

 private:
  std::string path_;
  std::byte* device_;  // the lowest byte
  std::size_t bytes_;
  device_copies copies_;
  std::shared_ptr<std::byte[]> memory_;
};

}  // namespace cairn::inline v0_1::detail
