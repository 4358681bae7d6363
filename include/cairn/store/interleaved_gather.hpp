// Fills and hashes several blocks together. If their elements are fields of the same records, each cache line of the records is fetched
// once for all blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/config.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn::detail {

/// A block that is filled step by step; what a step has filled is hashed while it is in the cache.
struct growing_block {
  std::span<std::byte> bytes;
  std::size_t hashed = 0;
  running_checksum sum{};

  /// Reports that the bytes [at, at + count) are filled. They are hashed now if they come next, else by `finish`.
  void filled(std::size_t at, std::size_t count) noexcept {
    if (at != hashed) return;
    sum.add(bytes.subspan(at, count));
    hashed += count;
  }

  /// The checksum of the whole block.
  [[nodiscard]] std::uint64_t finish() noexcept {
    sum.add(bytes.subspan(hashed));
    hashed = bytes.size();
    return sum.value();
  }
};

/// Elements of a strided view that go into a block.
struct strided_run {
  const memory_view* view;
  std::uint64_t first;          ///< the next element
  std::size_t block, at, left;  ///< number of the block, the next byte in it, and the bytes that are missing
};

/// The address of the row (index of the first dimension) that `element` belongs to.
[[nodiscard]] CAIRN_INLINE const std::byte* row_address(const memory_view& view, std::uint64_t element) noexcept;

/// Fills the blocks from the runs, and always continues with the run that is at the lowest address.
CAIRN_INLINE void interleaved_gather(std::vector<strided_run>& runs, std::span<growing_block> blocks);

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/store/interleaved_gather.ipp"  // IWYU pragma: keep
#endif
