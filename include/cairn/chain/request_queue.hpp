// SPDX-License-Identifier: MIT
// Hands out the elements of requests in order, some bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/store/reader.hpp"

namespace cairn::inline v0_1::detail {

/// Of whole arrays in contiguous memory.
class request_queue {
 public:
  explicit request_queue(std::vector<read_request> requests) : requests_(std::move(requests)) {
    for (const auto& each : requests_) left_ += each.into.bytes();
  }

  /// The bytes that are left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

  /// The next requests, of at least `bytes` bytes where there are as many, and at most one unit more. Large arrays are cut between two units, so that no
  /// block of an encoded one is decoded twice.
  [[nodiscard]] std::vector<read_request> take(std::uint64_t bytes) {
    constexpr std::uint64_t unit = std::uint64_t{1} << 17U;  // elements of a block of codecs::lossless
    std::vector<read_request> taken;
    for (std::uint64_t sum = 0; next_ < requests_.size() && sum < bytes;) {
      auto now = requests_[next_];
      const auto width = size_of(now.into.type), all = now.into.count();
      const auto unit_bytes = unit * width, units = (bytes - sum + unit_bytes - 1) / unit_bytes;
      const auto count = units * unit < all - first_ ? units * unit : all - first_;
      if (count < all) {
        now.into = {now.into.type, {count}, now.into.memory + first_ * width, {}};
        now.first = first_;
      }
      first_ += count;
      if (first_ == all) {
        first_ = 0;
        ++next_;
      }
      sum += count * width;
      left_ -= count * width;
      taken.push_back(std::move(now));
    }
    return taken;
  }

 private:
  std::vector<read_request> requests_;
  std::size_t next_ = 0;     // of the requests
  std::uint64_t first_ = 0;  // of its elements
  std::uint64_t left_ = 0;
};

}  // namespace cairn::inline v0_1::detail
