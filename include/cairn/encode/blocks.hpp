// SPDX-License-Identifier: MIT
// A payload of blocks, each coded by one thread: the u32 sizes of all blocks, then the blocks in order.
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

#include "cairn/encode/base.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

/// The largest size of `blocks` blocks of at most `block_bound` bytes each.
[[nodiscard]] constexpr std::size_t blocks_bound(std::size_t blocks, std::size_t block_bound) noexcept {
  return blocks * (sizeof(std::uint32_t) + block_bound);
}

/// Calls `encode(block, worker, out) -> bytes used` for every block, on up to `threads` threads, see parallel_for; its
/// `out` has `block_bound` bytes. `out` has `blocks_bound` bytes, or fewer where the last block is known to need fewer:
/// that block then gets the rest. Returns the bytes used. The bytes do not depend on the number of threads. With
/// `is_in_place`, the elements lie at the end of `out`: as no block takes more than `block_bound`, a block's elements
/// are overwritten only after it has been encoded.
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
      const std::size_t bytes = encode(i, 0U, out.subspan(end, std::min(block_bound, out.size() - end)));
      note(i, bytes);
      end += bytes;
    }
    return end;
  }
  // A thread codes into its own memory. When all earlier blocks have been placed, it copies its block to the end.
  std::mutex turn;
  std::condition_variable next;
  std::size_t done = 0;
  bool failed = false;
  std::vector<std::unique_ptr<std::byte[]>> scratch(std::min<std::size_t>(threads_of(threads), blocks));
  for (auto& memory : scratch) memory = std::make_unique_for_overwrite<std::byte[]>(block_bound);
  const auto code = [&](std::size_t i, unsigned worker) {
    std::byte* const memory = scratch[worker].get();
    const std::size_t bytes = encode(i, worker, std::span(memory, block_bound));
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
      code(i, worker);
    } catch (...) {  // later blocks must not wait for this one
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

/// The blocks [first, last) with the wanted elements in a payload of `count` elements, in blocks of `block_elements`.
struct wanted_blocks {
  std::size_t first, last;

  [[nodiscard]] static wanted_blocks of(const element_range& wanted, std::uint64_t count,
                                        std::size_t block_elements) noexcept {
    const auto end = std::min(wanted.last, count), begin = std::min(wanted.first, end);
    return {begin / block_elements, begin < end ? (end - 1) / block_elements + 1 : begin / block_elements};
  }
};

/// Calls `decode(block, worker, bytes) -> bool` for the wanted ones of the blocks of a payload of `encode_blocks`, on
/// the threads of the request, see parallel_for. It has the request read all bytes of `in`, a part of its payload, that
/// it uses, before. False when a call of `decode` returns false, or when the sizes do not add up to `in`.
template <class Decode>
[[nodiscard]] bool decode_blocks(std::size_t blocks, const wanted_blocks& wanted, std::span<const std::byte> in,
                                 const decode_request& from, const Decode& decode) {
  if (blocks > in.size() / sizeof(std::uint32_t)) return false;
  std::vector<std::size_t> begins(blocks + 1);
  begins[0] = blocks * sizeof(std::uint32_t);
  from.need(in.first(begins[0]));
  for (std::size_t i = 0; i < blocks; ++i) {
    std::uint32_t size = 0;
    std::memcpy(&size, in.data() + i * sizeof size, sizeof size);
    begins[i + 1] = begins[i] + size;
  }
  if (begins[blocks] != in.size()) return false;
  from.need(in.subspan(begins[wanted.first], begins[wanted.last] - begins[wanted.first]));
  std::atomic<bool> good{true};
  parallel_for(wanted.last - wanted.first, from.threads, [&](std::size_t i, unsigned worker) {
    const auto block = wanted.first + i;
    if (good && !decode(block, worker, in.subspan(begins[block], begins[block + 1] - begins[block]))) good = false;
  });
  return good;
}

}  // namespace cairn::inline v0_1::detail
