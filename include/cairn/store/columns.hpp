// Fills and hashes several blocks at once where they are columns of the same records, so that every cache line of the
// records is fetched once and not once per column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"

namespace cairn {

/// A block that is being put together and hashed while it is hot in the cache.
struct block_in_the_making {
  std::span<std::byte> bytes;
  std::size_t hashed = 0;
  running_checksum sum{};

  /// The bytes [at, at + count) are there: they are hashed now if they come next, by `finish` if not.
  void filled(std::size_t at, std::size_t count) noexcept {
    if (at != hashed) return;
    sum.add(bytes.subspan(at, count));
    hashed += count;
  }

  [[nodiscard]] std::uint64_t finish() noexcept {
    sum.add(bytes.subspan(hashed));
    hashed = bytes.size();
    return sum.value();
  }
};

/// Elements of a strided view that belong into a block.
struct column_run {
  const memory_view* view;
  std::uint64_t first;          ///< the next element
  std::size_t block, at, left;  ///< the next byte in which block, and the bytes to go
};

/// Elements per step along the first dimension, and where in memory such a step begins.
[[nodiscard]] inline std::uint64_t row_elements(const memory_view& view) noexcept {
  return view.shape[0] == 0 ? 1 : view.count() / view.shape[0];
}
[[nodiscard]] inline const std::byte* row_address(const memory_view& view, std::uint64_t element) noexcept {
  return view.memory + static_cast<std::int64_t>(element / row_elements(view)) * view.strides[0];
}

/// Fills the blocks from the runs, always going on with the run that is behind the others in memory.
inline void gather_side_by_side(std::vector<column_run>& runs, std::span<block_in_the_making> blocks) {
  constexpr std::uint64_t window = 64 << 10;  // of records: well within the cache
  while (!runs.empty()) {
    std::size_t behind = 0;
    for (std::size_t i = 1; i < runs.size(); ++i)
      if (row_address(*runs[i].view, runs[i].first) < row_address(*runs[behind].view, runs[behind].first)) behind = i;
    auto& run = runs[behind];
    const auto& view = *run.view;
    const auto stride = static_cast<std::uint64_t>(std::abs(view.strides[0]));
    const std::uint64_t rows = stride == 0 || stride > window ? 1 : window / stride;
    const std::uint64_t width = size_of(view.type);
    const std::size_t bytes = std::min<std::uint64_t>(rows * row_elements(view) * width, run.left);
    gather(view, run.first, blocks[run.block].bytes.subspan(run.at, bytes));
    blocks[run.block].filled(run.at, bytes);
    run.first += bytes / width;
    run.at += bytes;
    run.left -= bytes;
    if (run.left == 0) {
      run = runs.back();
      runs.pop_back();
    }
  }
}

}  // namespace cairn
