// SPDX-License-Identifier: MIT
// Buffers on the host that stand for arrays on a device, and keys for addresses in different memories.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/tensor_view.hpp"

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

inline host_buffer::host_buffer(std::string path, memory_view& view, const device_copies& copies)
    : path_(std::move(path)), device_(view.memory), bytes_(view.bytes()), copies_(copies) {
  if (!copies_.to_host || !copies_.from_host)
    fail(errc::invalid, {path_, " is on a device: its view needs both copy functions, to_host and from_host"});
  std::int64_t lowest = 0;                                          // offset of the lowest element from view.memory
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dimensions;  // stride, length
  for (std::size_t d = 0; bytes_ > 0 && d < view.strides.size(); ++d) {
    if (view.shape[d] == 1) continue;
    const std::int64_t step = view.strides[d];
    if (step < 0) lowest += step * static_cast<std::int64_t>(view.shape[d] - 1);
    dimensions.emplace_back(static_cast<std::uint64_t>(step < 0 ? -step : step), view.shape[d]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  bool has_gaps = false;
  std::uint64_t packed = size_of(view.type);
  for (const auto& [step, length] : dimensions) {
    has_gaps = has_gaps || step != packed;
    packed *= length;
  }
  if (has_gaps)
    fail(errc::invalid,
         {path_,
          " is on a device and has gaps between its elements: return a view of the whole array, or copy it into a "
          "contiguous one first"});
  memory_.reset(new std::byte[bytes_]);  // not initialised
  device_ += lowest;
  view.memory = memory_.get() - lowest;
}

inline void host_buffer::read_device() const {
  if (bytes_ == 0) return;
  with_errors(path_ + " cannot be copied from its device",
              [&] { copies_.to_host(memory_.get(), device_, bytes_, copies_.context); });
}

inline void host_buffer::write_device() const {
  if (bytes_ == 0) return;
  with_errors(path_ + " cannot be copied to its device",
              [&] { copies_.from_host(device_, memory_.get(), bytes_, copies_.context); });
}

}  // namespace cairn::inline v0_1::detail
