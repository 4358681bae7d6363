// SPDX-License-Identifier: MIT
// Definitions of host_buffer.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/core/as_error.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/host_buffer.hpp"

namespace cairn::inline v0_1::detail {

host_buffer::host_buffer(std::string path, memory_view& view, const device_copies& copies)
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

void host_buffer::read_device() const {
  if (bytes_ == 0) return;
  with_errors(path_ + " cannot be copied from its device",
              [&] { copies_.to_host(memory_.get(), device_, bytes_, copies_.context); });
}

void host_buffer::write_device() const {
  if (bytes_ == 0) return;
  with_errors(path_ + " cannot be copied to its device",
              [&] { copies_.from_host(device_, memory_.get(), bytes_, copies_.context); });
}

}  // namespace cairn::inline v0_1::detail
