// SPDX-License-Identifier: MIT
// The bytes that the fuzzer gives, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

/// One after the other; zeros at the end.
class choices {
 public:
  choices(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  [[nodiscard]] bool any() const { return at_ < size_; }
  std::uint64_t next(std::uint64_t below) {
    std::uint64_t value = 0;
    for (std::uint64_t range = below; range > 1 && at_ < size_; range >>= 8U) value = value << 8U | bytes_[at_++];
    return below == 0 ? 0 : value % below;
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_, at_ = 0;
};

}  // namespace fuzz
