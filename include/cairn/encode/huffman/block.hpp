// SPDX-License-Identifier: MIT
// A block of bytes -> a self-describing block of fewer bytes, and back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/huffman/counts.hpp"
#include "cairn/encode/huffman/decoder.hpp"
#include "cairn/encode/huffman/encoder.hpp"

namespace cairn::inline v0_1::detail::huffman {

/// Bytes that a block may be larger than its input.
inline constexpr std::size_t block_slack = 16;

/// The largest size of a block of `n` bytes, and the room that `encode_block` needs.
[[nodiscard]] constexpr std::size_t block_bound(std::size_t n) noexcept { return n + block_slack; }

/// The first byte of a block.
enum class block_kind : std::uint8_t {
  stored,    ///< the bytes follow
  repeated,  ///< one byte follows: all bytes are equal to it
  coded      ///< code lengths follow, then four streams
};

/// Fills `out` with what follows the first byte of a block that is not coded; false when it is malformed.
[[nodiscard]] inline bool decode_uncoded(block_kind kind, std::span<const std::byte> rest,
                                         std::span<std::byte> out) noexcept {
  if (kind == block_kind::stored) {
    if (rest.size() != out.size()) return false;
    if (!out.empty()) std::memcpy(out.data(), rest.data(), out.size());
    return true;
  }
  if (kind != block_kind::repeated || rest.size() != 1 || out.empty()) return false;
  std::memset(out.data(), std::to_integer<int>(rest[0]), out.size());
  return true;
}

/// Codes at most 8 GiB to `out`, which has `block_bound` bytes, and returns the bytes used. Stores the block as it is
/// where coding saves less than 1/64: that is not worth the time to decode it.
[[nodiscard]] inline std::size_t encode_block(std::span<const std::byte> in, std::span<std::byte> out) {
  const byte_counts counts = count_bytes(in);
  const auto begin = [&](block_kind kind) { out[0] = static_cast<std::byte>(kind); };
  if (!in.empty() && counts[std::to_integer<std::size_t>(in[0])] == in.size()) {
    begin(block_kind::repeated);
    out[1] = in[0];
    return 2;
  }
  const auto lengths = find_code_lengths(counts);
  std::array<std::byte, code_lengths_bound> table;
  const std::size_t table_bytes = in.empty() ? 0 : write_code_lengths(lengths, table);
  const std::uint64_t coded = 1 + table_bytes + coded_bits(counts, lengths) / 8 + encode_slack;
  if (coded > in.size() - in.size() / 64) {
    begin(block_kind::stored);
    if (!in.empty()) std::memcpy(out.data() + 1, in.data(), in.size());
    return 1 + in.size();
  }
  begin(block_kind::coded);
  std::memcpy(out.data() + 1, table.data(), table_bytes);
  encoder code(lengths);
  if (code.is_worth_pairs(in.size())) code.prepare_pairs();
  return 1 + table_bytes + code.encode(in, out.subspan(1 + table_bytes));
}

/// Decodes the block `in` to `out`. False unless `in` is exactly one block of as many bytes; the contents of `out` are
/// then undefined. Takes 64 KiB of stack.
[[nodiscard]] inline bool decode_block(std::span<const std::byte> in, std::span<std::byte> out) noexcept {
  if (in.empty()) return false;
  const auto kind = static_cast<block_kind>(in[0]);
  const auto rest = in.subspan(1);
  if (kind != block_kind::coded) return decode_uncoded(kind, rest, out);
  code_lengths lengths;
  const std::size_t table_bytes = read_code_lengths(rest, lengths);
  return table_bytes != 0 && decoder(lengths).decode(rest.subspan(table_bytes), out);
}

}  // namespace cairn::inline v0_1::detail::huffman
