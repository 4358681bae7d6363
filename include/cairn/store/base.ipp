// SPDX-License-Identifier: MIT
// Definitions of store/base.hpp.
#pragma once

#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::stores {

void check_range(std::string_view where, std::uint64_t size, std::uint64_t offset,
                 std::span<const std::span<std::byte>> into) {
  std::uint64_t left = size - offset;
  bool is_inside = offset <= size;
  for (const auto& each : into) {
    is_inside = is_inside && each.size() <= left;
    left -= each.size();
  }
  if (!is_inside)
    fail(errc::corrupt, {where, " ends at byte ", size, ", but bytes beyond are needed, from ", offset, " on"});
}

std::string read_text(const source& file, std::uint64_t offset, std::uint64_t length) {
  std::string text(length, '\0');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace cairn::inline v0_1::stores
