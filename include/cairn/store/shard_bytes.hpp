// SPDX-License-Identifier: MIT
// The bytes of a shard's data section, wherever they are in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/shard.hpp"

namespace cairn::inline v0_1::detail {

/// A chunk that is filled step by step; what a step has filled is hashed while it is in the cache.
class growing_chunk {
 public:
  /// Sets `checksums` to those of the blocks of `bytes`, each of `block` bytes.
  growing_chunk(std::span<std::byte> bytes, std::span<std::uint64_t> checksums, std::size_t block) noexcept
      : bytes_(bytes), checksums_(checksums), block_(block) {}

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Reports that the bytes [at, at + count) are filled. They are hashed now if they come next, else by `finish`.
  void filled(std::size_t at, std::size_t count) noexcept {
    if (at == hashed_) hash(count);
  }

  /// Call it when all bytes are filled.
  void finish() noexcept { hash(bytes_.size() - hashed_); }

 private:
  void hash(std::size_t count) noexcept {
    for (const auto end = hashed_ + count; hashed_ < end;) {
      const auto number = hashed_ / block_, block_end = std::min((number + 1) * block_, bytes_.size());
      const auto next = std::min(block_end, end);
      sum_.add(bytes_.subspan(hashed_, next - hashed_));
      hashed_ = next;
      if (next == block_end) checksums_[number] = std::exchange(sum_, {}).value();
    }
  }

  std::span<std::byte> bytes_;
  std::span<std::uint64_t> checksums_;
  std::size_t block_, hashed_ = 0;
  running_checksum sum_{};
};

/// Elements of a strided view that go into a chunk.
struct strided_run {
  const memory_view* view;
  std::uint64_t first;          ///< the next element
  std::size_t chunk, at, left;  ///< number of the chunk, the next byte in it, and the bytes that are missing
};

/// The address of the row (index of the first dimension) that `element` belongs to.
[[nodiscard]] const std::byte* row_address(const memory_view& view, std::uint64_t element) noexcept;

/// Fills the chunks from the runs, and always continues with the run that is at the lowest address.
void interleaved_gather(std::vector<strided_run>& runs, std::span<growing_chunk> chunks);

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
