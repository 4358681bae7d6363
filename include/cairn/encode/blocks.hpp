// A payload of blocks that are coded one by one, by several threads, and lie one behind the other: u32 sizes first, then the blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "cairn/system/parallel.hpp"

namespace cairn::detail {

/// Bytes that `blocks` blocks of at most `block_bound` bytes take at most.
[[nodiscard]] constexpr std::size_t blocks_bound(std::size_t blocks, std::size_t block_bound) noexcept {
  return blocks * (sizeof(std::uint32_t) + block_bound);
}

/// Calls `encode(block, out) -> bytes used` for every block, with room for `block_bound` bytes each time, on up to `threads`
/// threads. `out` has room for `blocks_bound`, or less where the last block is known to take less, which then gets what is left; the
/// result is how much of it is used. The bytes do not depend on the number of threads. What is encoded may lie at the end of `out`,
/// when `is_in_place` says so: nothing is written to where a block comes from before it has been encoded, as no block takes more than
/// `block_bound`.
template <class Encode>
[[nodiscard]] std::size_t encode_blocks(std::size_t blocks, std::size_t block_bound, unsigned threads,
                                        std::span<std::byte> out, const Encode& encode, bool is_in_place = false) {
  std::byte* const sizes = out.data();
  std::size_t end = blocks * sizeof(std::uint32_t);
  const auto note = [&](std::size_t block, std::size_t bytes) {
    const auto size = static_cast<std::uint32_t>(bytes);
    std::memcpy(sizes + block * sizeof size, &size, sizeof size);
  };
  if ((threads == 1 || blocks == 1) && !is_in_place) {
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::size_t bytes = encode(i, out.subspan(end, std::min(block_bound, out.size() - end)));
      note(i, bytes);
      end += bytes;
    }
    return end;
  }
  // Every thread codes into memory of its own and, when all blocks before have said where they end, copies it to its place.
  std::mutex turn;
  std::condition_variable next;
  std::size_t done = 0;
  bool failed = false;
  std::vector<std::unique_ptr<std::byte[]>> scratch(
      std::min<std::size_t>(threads == 0 ? default_threads() : threads, blocks));
  for (auto& memory : scratch) memory = std::make_unique_for_overwrite<std::byte[]>(block_bound);
  const auto code = [&](std::size_t i, std::byte* memory) {
    const std::size_t bytes = encode(i, std::span(memory, block_bound));
    std::unique_lock lock(turn);
    next.wait(lock, [&] { return done == i || failed; });
    const std::size_t begin = end;
    note(i, bytes);
    end += bytes;
    ++done;
    const bool is_placed = !failed;
    lock.unlock();
    next.notify_all();
    if (is_placed) std::memcpy(out.data() + begin, memory, bytes);
  };
  parallel_for(blocks, threads, [&](std::size_t i, unsigned worker) {
    try {
      code(i, scratch[worker].get());
    } catch (...) {  // those that come after this block must not wait for it
      {
        const std::lock_guard lock(turn);
        failed = true;
      }
      next.notify_all();
      throw;
    }
  });
  return end;
}

/// Calls `decode(block, bytes) -> bool` for every block of what `encode_blocks` made, on up to `threads` threads. False when one of
/// them returns false, or when the sizes do not fill `in` exactly.
template <class Decode>
[[nodiscard]] bool decode_blocks(std::size_t blocks, std::span<const std::byte> in, unsigned threads,
                                 const Decode& decode) {
  if (blocks > in.size() / sizeof(std::uint32_t)) return false;
  std::vector<std::size_t> begins(blocks + 1);
  begins[0] = blocks * sizeof(std::uint32_t);
  for (std::size_t i = 0; i < blocks; ++i) {
    std::uint32_t size = 0;
    std::memcpy(&size, in.data() + i * sizeof size, sizeof size);
    begins[i + 1] = begins[i] + size;
  }
  if (begins[blocks] != in.size()) return false;
  std::atomic<bool> good{true};
  parallel_for(blocks, threads, [&](std::size_t i, unsigned) {
    if (good && !decode(i, in.subspan(begins[i], begins[i + 1] - begins[i]))) good = false;
  });
  return good;
}

}  // namespace cairn::detail
