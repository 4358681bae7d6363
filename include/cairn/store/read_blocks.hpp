// SPDX-License-Identifier: MIT
// Reads parts of shards into memory, and compares the checksums of their blocks while they are in the cache: in one pass, on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/store/stored_checkpoint.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes [begin, end) of a shard's data section, which are those of `into` from byte `at` of its packed elements on.
struct read_step {
  std::size_t shard;
  std::uint64_t begin, end;
  const memory_view* into;
  std::uint64_t at;
};

/// Consecutive blocks [first, last) of a shard.
struct block_run {
  std::size_t shard;
  std::uint64_t first, last;
};

/// Reads the bytes of all steps. With `verify` it reads whole blocks, but for those that have been checked before, and throws errc::corrupt after the
/// first one that does not match its checksum: memory of the steps may then have changed. O(n log n) for n steps, which may be in any order and
/// overlap.
void read_blocks(const stored_checkpoint& checkpoint, std::vector<read_step> steps, bool verify, unsigned threads);

/// Reads and checks the blocks that have not been checked yet, all of them before it returns. errc::corrupt names file, byte and leaf.
void verify_blocks(const stored_checkpoint& checkpoint, std::span<const block_run> runs, unsigned threads);

}  // namespace cairn::inline v0_1::detail
