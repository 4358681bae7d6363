// SPDX-License-Identifier: MIT
// How arrays are copied between the host and memory that the host cannot reach, such as a GPU's.
#pragma once

#include <cstddef>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// How to copy an array between the host and the memory where it is. Both functions return when the copy is complete,
/// and throw if it fails. `context` is passed to both; it may be a queue or a stream.
///
/// An array is known by address and context: arrays of devices that may have the same address need different contexts.
struct device_copies {
  void (*to_host)(void* host, const void* device, std::size_t bytes, void* context) = nullptr;
  void (*from_host)(void* device, const void* host, std::size_t bytes, void* context) = nullptr;
  void* context = nullptr;

  /// False for an array on the host, which is read and written in place.
  [[nodiscard]] explicit operator bool() const noexcept { return to_host || from_host; }
};

}  // namespace cairn::inline v0_1
