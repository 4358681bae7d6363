// SPDX-License-Identifier: MIT
// The bytes of a shard's data section, wherever they are in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/shard.hpp"

namespace cairn::inline v0_1::detail {

/// Finds them: in payloads, in staged copies, or in the memory of a leaf.
class shard_bytes {
 public:
  /// A run of bytes of one piece.
  struct run {
    std::size_t at;                     ///< from the beginning of the range
    std::size_t size;                   ///< in bytes
    const std::byte* memory;            ///< where they are; null: strided
    const memory_view* view = nullptr;  ///< the strided leaf that they are elements of
    std::uint64_t first = 0;            ///< the first of these elements
  };

  shard_bytes(std::span<const leaf> leaves, const shard_layout& layout) : leaves_(leaves), layout_(layout) {}

  /// Calls `use(run)` for the bytes of the data section in [begin, end), in order.
  template <class Use>
  void for_each(std::uint64_t begin, std::uint64_t end, const Use& use) const {
    const auto& tensors = layout_.header.tensors;
    auto at = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= begin; });
    for (; at != tensors.end() && at->begin < end; ++at) {
      const auto from = std::max(begin, at->begin), to = std::min(end, at->end);
      if (from == to) continue;
      const auto& p = layout_.pieces[static_cast<std::size_t>(at - tensors.begin())];
      const auto skipped = from - at->begin;
      const leaf& whole = leaves_[p.leaf];
      const auto width = size_of(whole.type);
      run found{from - begin, to - from, nullptr};
      if (!p.bytes.empty()) {
        found.memory = p.bytes.data() + skipped;
      } else if (whole.contiguous() || whole.shape.empty()) {
        found.memory = whole.memory + p.first * width + skipped;
      } else {
        found.view = &whole;
        found.first = p.first + skipped / width;
      }
      use(found);
    }
  }

  /// The bytes [begin, end) where they are, if they are part of one payload or one copy, which nobody changes; else nothing.
  [[nodiscard]] std::span<const std::byte> unchanging(std::uint64_t begin, std::uint64_t end) const {
    const auto& tensors = layout_.header.tensors;
    const auto at = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= begin; });
    if (at == tensors.end() || at->end < end) return {};
    const auto bytes = layout_.pieces[static_cast<std::size_t>(at - tensors.begin())].bytes;
    return bytes.empty() ? bytes : bytes.subspan(begin - at->begin, end - begin);
  }

  /// Copies the bytes [begin, begin + out.size()).
  void copy(std::uint64_t begin, std::span<std::byte> out) const {
    for_each(begin, begin + out.size(), [&](const run& each) { copy(each, out); });
  }

  /// Copies a run of a range to its place in `out`, which is for the whole range.
  static void copy(const run& each, std::span<std::byte> out) {
    const auto place = out.subspan(each.at, each.size);
    if (each.memory != nullptr)
      std::memcpy(place.data(), each.memory, each.size);
    else
      gather(*each.view, each.first, place);
  }

 private:
  std::span<const leaf> leaves_;
  const shard_layout& layout_;
};

}  // namespace cairn::inline v0_1::detail
