// SPDX-License-Identifier: MIT
// The bound of the memory that an import takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cairn/core/error.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// Counts the memory that an import needs before it is allocated: a small file must not take much.
class import_memory {
 public:
  /// The size of a file that is imported.
  void add_file(std::uint64_t bytes) noexcept { file_bytes_ += bytes; }

  /// errc::no_memory if the machine does not have as much, or if it is more than 256 MiB and 24 times the bytes of the
  /// file.
  void take(std::uint64_t bytes, std::string_view origin) {
    taken_ += std::min(bytes, std::uint64_t{1} << 62U);
    require_memory(taken_, origin);
    if (taken_ > least && taken_ / 24 > file_bytes_)
      fail(errc::no_memory, {origin, ": an import would need ", taken_, " bytes of memory, more than 24 times the ",
                             "bytes of the file, ", file_bytes_, "; leave arrays out with the filter"});
  }

 private:
  static constexpr std::uint64_t least = std::uint64_t{256} << 20U;
  std::uint64_t file_bytes_ = 0, taken_ = 0;
};

}  // namespace cairn::inline v0_1::detail
