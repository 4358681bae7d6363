// SPDX-License-Identifier: MIT
// Fills and hashes several chunks together. If their elements are fields of the same records, each cache line of the records is fetched
// once for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"

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

}  // namespace cairn::inline v0_1::detail
