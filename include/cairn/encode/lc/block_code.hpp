// SPDX-License-Identifier: MIT
// The Huffman code of a leaf's packed symbols, and its blocks: exceptions, then packed symbols.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/encode/code_table_text.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/encode/huffman/block.hpp"
#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/huffman/counts.hpp"
#include "cairn/encode/huffman/decoder.hpp"
#include "cairn/encode/huffman/encoder.hpp"
#include "cairn/encode/lc/payload.hpp"
#include "cairn/encode/lc/quantize.hpp"

namespace cairn::inline v0_1::detail::lc {

/// From this many packed bytes on, a new code is stored beside the payload, where later checkpoints find it.
inline constexpr std::size_t shared_code_worth = std::size_t{64} << 10;

/// Layout of a block:
///   u8 kind of the packed symbols
///   number of exceptions; for each, u32 index and the element
///   coded only: number of patches, which are bytes that the code has no symbol for; for each, u32 index and the byte
///   the packed symbols: their codes, themselves, or the one byte that all are equal to
using huffman::block_kind;

/// The largest size of a block, and the room that `encode_block` needs.
[[nodiscard]] constexpr std::size_t block_bound(std::size_t elements, std::size_t item) noexcept {
  return 1 + 5 + 5 + most_exceptions(elements) * (4 + item) + packed_size(elements, 3) + huffman::encode_slack;
}

[[nodiscard]] inline bool is_repeated(const huffman::byte_counts& counts) noexcept {
  return std::count_if(counts.begin(), counts.end(), [](auto count) { return count != 0; }) <= 1;
}

/// Bytes of a patch. Without patches, nearly every known code would lack some rare byte.
inline constexpr std::size_t patch_bytes = sizeof(std::uint32_t) + 1;

/// An upper bound for the bits of the counted bytes, with patches and the codes in their places.
[[nodiscard]] inline std::uint64_t patched_bits(const huffman::byte_counts& counts,
                                                const code_lengths& lengths) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < counts.size(); ++s)
    bits += counts[s] * (lengths[s] != 0 ? lengths[s] : 8 * patch_bytes + huffman::max_code_bits);
  return bits;
}

/// A code for the counted bytes: none, where coding does not pay; the newest known code that takes at most 1 % more
/// bits than a new one and its table; or a new one.
[[nodiscard]] inline step_code choose_code(const huffman::byte_counts& counts, const code_tables* known) {
  std::uint64_t bytes = 0;
  for (const auto count : counts) bytes += count;
  if (bytes == 0 || is_repeated(counts)) return {};
  const auto fresh = huffman::find_code_lengths(counts);
  std::array<std::byte, huffman::code_lengths_bound> text;
  const std::uint64_t to_store = 8 * huffman::write_code_lengths(fresh, text);
  const std::uint64_t fresh_bits = huffman::coded_bits(counts, fresh) + to_store;
  const std::uint64_t most = std::min(fresh_bits + fresh_bits / 100, 8 * bytes);
  if (known != nullptr) {
    const auto tables = known->all();
    for (std::size_t i = tables.size(); i-- > 0;)
      if (patched_bits(counts, tables[i].lengths) <= most && huffman::is_complete(tables[i].lengths))
        return {step_code::kind::by_id, tables[i].lengths, tables[i].id};
  }
  if (fresh_bits >= 8 * bytes) return {};
  const auto table = make_code_table(fresh);
  return {bytes >= shared_code_worth ? step_code::kind::by_id : step_code::kind::within, table.lengths, table.id};
}

/// Codes packed symbols to `at` and returns the end. Replaces bytes that have no code, and restores them.
[[nodiscard]] inline std::byte* encode_patched(std::span<std::byte> packed, const huffman::byte_counts& counts,
                                               const huffman::encoder& code, const code_lengths& lengths,
                                               std::byte* at) noexcept {
  std::uint64_t patches = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) patches += lengths[s] == 0 ? counts[s] : 0;
  at = put_number(at, patches);
  const std::byte* const begin = at;
  std::size_t instead = 0;
  while (lengths[instead] == 0) ++instead;
  for (std::size_t i = 0; patches > 0 && i < packed.size(); ++i) {
    if (lengths[std::to_integer<std::size_t>(packed[i])] != 0) continue;
    const auto index = static_cast<std::uint32_t>(i);
    std::memcpy(at, &index, sizeof index);
    at[sizeof index] = packed[i];
    at += patch_bytes;
    packed[i] = static_cast<std::byte>(instead);
  }
  const std::size_t bytes = code.encode(packed, {at, packed.size() + huffman::encode_slack});
  for (const std::byte* patch = begin; patch != at; patch += patch_bytes) {
    std::uint32_t index = 0;
    std::memcpy(&index, patch, sizeof index);
    packed[index] = patch[sizeof index];
  }
  return at + bytes;
}

/// The reverse; false when `in` is malformed.
[[nodiscard]] inline bool decode_patched(byte_reader in, const huffman::decoder& code,
                                         std::span<std::byte> packed) noexcept {
  const auto number = in.take_number();
  if (!in.good() || number > packed.size()) return false;
  const auto patches = in.take(number * patch_bytes);
  if (!in.good() || !code.decode(in.rest(), packed)) return false;
  for (std::size_t i = 0; i < patches.size(); i += patch_bytes) {
    std::uint32_t index = 0;
    std::memcpy(&index, patches.data() + i, sizeof index);
    if (index >= packed.size()) return false;
    packed[index] = patches[i + sizeof index];
  }
  return true;
}

/// Writes a block of elements of `item` bytes; returns its size.
[[nodiscard]] inline std::size_t encode_block(std::span<std::byte> packed, const huffman::byte_counts& counts,
                                              std::span<const exception> exceptions, std::size_t item,
                                              const huffman::encoder* code, const code_lengths& lengths,
                                              std::span<std::byte> out) noexcept {
  std::byte* at = put_number(out.data() + 1, exceptions.size());
  for (const auto& e : exceptions) {
    std::memcpy(at, &e.index, sizeof e.index);
    std::memcpy(at + sizeof e.index, &e.bits, item);
    at += sizeof e.index + item;
  }
  const auto finish = [&](block_kind kind, const std::byte* end) {
    out[0] = static_cast<std::byte>(kind);
    return static_cast<std::size_t>(end - out.data());
  };
  if (is_repeated(counts)) {
    *at = packed[0];
    return finish(block_kind::repeated, at + 1);
  }
  if (code != nullptr && patched_bits(counts, lengths) < 8 * packed.size())
    return finish(block_kind::coded, encode_patched(packed, counts, *code, lengths, at));
  std::memcpy(at, packed.data(), packed.size());
  return finish(block_kind::stored, at + packed.size());
}

/// Sets `packed` to a block's packed symbols and `exceptions` to the bytes of its exceptions. False if malformed.
[[nodiscard]] inline bool decode_block(std::span<const std::byte> in, std::size_t elements, std::size_t item,
                                       const huffman::decoder* code, std::span<std::byte> packed,
                                       std::span<const std::byte>& exceptions) noexcept {
  byte_reader reader(in);
  const auto kind = static_cast<block_kind>(reader.take_value<std::uint8_t>());
  const auto number = reader.take_number();
  if (!reader.good() || number > elements) return false;
  exceptions = reader.take(number * (sizeof(std::uint32_t) + item));
  if (!reader.good()) return false;
  for (std::size_t i = 0; i < exceptions.size(); i += sizeof(std::uint32_t) + item) {
    std::uint32_t index = 0;
    std::memcpy(&index, exceptions.data() + i, sizeof index);
    if (index >= elements) return false;
  }
  if (kind == block_kind::coded) return code != nullptr && decode_patched(reader, *code, packed);
  return huffman::decode_uncoded(kind, reader.rest(), packed);
}

/// Writes the exceptions of a decoded block over its elements.
inline void put_exceptions(std::span<const std::byte> exceptions, std::size_t item,
                           std::span<std::byte> elements) noexcept {
  for (; !exceptions.empty(); exceptions = exceptions.subspan(sizeof(std::uint32_t) + item)) {
    std::uint32_t index = 0;
    std::memcpy(&index, exceptions.data(), sizeof index);
    std::memcpy(elements.data() + index * item, exceptions.data() + sizeof index, item);
  }
}

}  // namespace cairn::inline v0_1::detail::lc
