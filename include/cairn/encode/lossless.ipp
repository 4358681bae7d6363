// SPDX-License-Identifier: MIT
// Definitions of lossless.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>

#include "cairn/encode/blocks.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/encode/lossless/block.hpp"
#include "cairn/encode/lossless/elements.hpp"
#include "cairn/encode/lossless/plan.hpp"

namespace cairn::inline v0_1::detail::lossless {

/// The first four bytes of a payload: version, flags, log2 of the elements of a block, format of the elements.
struct payload_header {
  static constexpr std::size_t bytes = 4;
  static constexpr unsigned version = 1, relative_flag = 1, floating_flag = 0x80;
  static constexpr unsigned least_log2 = 10, usual_log2 = 17, most_log2 = 22;

  bool relative = false;
  unsigned block_log2 = usual_log2;
  element_format format;

  [[nodiscard]] std::size_t block_elements() const noexcept { return std::size_t{1} << block_log2; }
  [[nodiscard]] std::size_t blocks(std::size_t count) const noexcept {
    return (count + block_elements() - 1) / block_elements();
  }

  void write(std::byte* out) const noexcept {
    out[0] = std::byte{version};
    out[1] = static_cast<std::byte>(relative ? relative_flag : 0);
    out[2] = static_cast<std::byte>(block_log2);
    out[3] = static_cast<std::byte>(format.width | (format.floating ? floating_flag : 0));
  }

  /// Reads a header for elements of the expected format. Returns what is wrong with it, or null.
  [[nodiscard]] const char* read(std::span<const std::byte> in, const element_format& expected) noexcept {
    if (in.size() < bytes) return "it has no header";
    if (std::to_integer<unsigned>(in[0]) != version) return "its version is unknown";
    if (std::to_integer<unsigned>(in[1]) > relative_flag) return "its flags are unknown";
    relative = std::to_integer<unsigned>(in[1]) == relative_flag;
    block_log2 = std::to_integer<unsigned>(in[2]);
    if (block_log2 < least_log2 || block_log2 > most_log2) return "its blocks have an impossible size";
    const auto described = std::to_integer<unsigned>(in[3]);
    format = {described & ~floating_flag, (described & floating_flag) != 0};
    return format == expected ? nullptr : "its elements are of another type";
  }
};

/// Whether `bytes`, or bits, are so much less than `all` that they are worth the time to decode them: by 3 %.
[[nodiscard]] constexpr bool is_worth_decoding(std::uint64_t bytes, std::uint64_t all) noexcept {
  return bytes * 100 <= all * 97;
}

/// The estimates for up to `parts` parts of the elements, added up.
[[nodiscard]] inline block_plan plan_parts(const elements& all, std::size_t parts) {
  const std::size_t size = std::max<std::size_t>(all.count / parts, 1);
  block_plan sum;
  for (std::size_t i = 0; i < std::min(parts, all.count); ++i) sum.add(plan_block(all.range(i * size, size)));
  return sum;
}

inline constexpr std::size_t few_parts = 8;

/// Whether encoding pays for the elements of these blocks, by a sample.
[[nodiscard]] inline bool encoding_pays(const elements& all, std::size_t blocks) {
  const auto sample = plan_parts(all, std::max(std::min(blocks, few_parts), blocks / 16));
  return is_worth_decoding(sample.bits, sample.sample_bits);
}

/// Whether the XOR with the reference takes fewer bits than the values. A tie goes to the XOR: merged XORs stay XORs.
[[nodiscard]] inline bool difference_pays(const elements& difference) {
  auto values = difference;
  values.reference = nullptr;
  return plan_parts(difference, few_parts).cost <= plan_parts(values, few_parts).cost;
}

/// Whether the values overlap the output.
[[nodiscard]] inline bool is_in_place(std::span<const std::byte> values, std::span<std::byte> out) noexcept {
  const std::less<const std::byte*> before;
  return before(values.data(), out.data() + out.size()) && before(out.data(), values.data() + values.size());
}

/// Restores values that were encoded in place from their payload. Goes from the last block to the first: the payload of
/// a block ends before the values of the blocks that are still to be decoded.
inline void decode_in_place(const payload_header& header, const elements& all, std::span<const std::byte> payload,
                            std::span<std::byte> values) {
  const std::size_t blocks = header.blocks(all.count), width = all.format.width;
  const std::size_t largest = std::min(all.count, header.block_elements());
  std::vector<std::uint32_t> sizes(blocks);
  std::memcpy(sizes.data(), payload.data() + payload_header::bytes, blocks * sizeof sizes[0]);
  const block_memory memory(largest, width);
  const auto block = std::make_unique_for_overwrite<std::byte[]>(largest * width);
  std::size_t end = payload.size();
  for (std::size_t i = blocks; i-- > 0;) {
    const std::size_t first = i * largest, bytes = std::min(largest, all.count - first) * width;
    if (header.relative) std::memcpy(block.get(), all.reference + first * width, bytes);
    static_cast<void>(decode_elements(payload.subspan(end - sizes[i], sizes[i]), width, header.relative, memory,
                                      {block.get(), bytes}));
    std::memcpy(values.data() + first * width, block.get(), bytes);
    end -= sizes[i];
  }
}

/// Encodes all blocks to `out`, after the header. Returns the bytes used.
[[nodiscard]] inline std::size_t encode_payload_blocks(const payload_header& header, const elements& all,
                                                       unsigned threads, std::span<std::byte> out, bool in_place) {
  const std::size_t width = header.format.width, largest = std::min(all.count, header.block_elements());
  std::vector<std::optional<block_memory>> memories(
      std::min<std::size_t>(threads_of(threads), header.blocks(all.count)));
  const auto encode = [&](std::size_t block, unsigned worker, std::span<std::byte> room) {
    auto& memory = memories[worker];
    if (!memory) memory.emplace(largest, width);
    const std::size_t first = block * largest;
    return encode_elements(all.range(first, std::min(largest, all.count - first)), *memory, room);
  };
  return encode_blocks(header.blocks(all.count), elements_bound(largest, width), threads, out, encode, in_place);
}

/// Decodes the blocks with wanted elements. False when they are malformed.
[[nodiscard]] inline bool decode_payload_blocks(const payload_header& header, const decode_request& from) {
  const std::size_t width = header.format.width, count = from.values.size() / width;
  const std::size_t largest = std::min(count, header.block_elements());
  std::vector<std::optional<block_memory>> memories(
      std::min<std::size_t>(threads_of(from.threads), header.blocks(count)));
  const auto decode = [&](std::size_t block, unsigned worker, std::span<const std::byte> bytes) {
    auto& memory = memories[worker];
    if (!memory) memory.emplace(largest, width);
    const std::size_t first = block * largest;
    const auto some = from.values.subspan(first * width, std::min(largest, count - first) * width);
    return decode_elements(bytes, width, header.relative, *memory, some);
  };
  return decode_blocks(header.blocks(count), wanted_blocks::of(from.wanted, count, header.block_elements()),
                       from.payload.subspan(header.bytes), from, decode);
}

}  // namespace cairn::inline v0_1::detail::lossless

namespace cairn::inline v0_1::codecs {

std::size_t lossless::bound(dtype type, std::size_t bytes) const noexcept {
  namespace engine = detail::lossless;
  using header = engine::payload_header;
  const std::size_t width = size_of(type), count = bytes / width;
  if (count == 0) return header::bytes;
  const std::size_t largest = std::min(count, header{}.block_elements()), whole = header{}.blocks(count) - 1;
  return header::bytes + detail::blocks_bound(whole, engine::elements_bound(largest, width)) +
         detail::blocks_bound(1, engine::elements_bound(count - whole * largest, width));
}

encode_result lossless::encode(const encode_request& in, std::span<std::byte> out) const {
  namespace engine = detail::lossless;
  engine::payload_header header{.format = engine::format_of(in.type)};
  const std::size_t width = header.format.width, count = in.values.size() / width;
  if (count == 0) return {};
  engine::elements all{header.format, in.values.data(), nullptr, count};
  if (xor_parent && in.reference.size() == in.values.size()) {
    all.reference = in.reference.data();
    header.relative = engine::difference_pays(all);
    if (!header.relative) all.reference = nullptr;
  }

  const std::size_t blocks = header.blocks(count);
  if (blocks > 1 && !engine::encoding_pays(all, blocks)) return {};
  const bool in_place = engine::is_in_place(in.values, out);
  header.write(out.data());
  const std::size_t bytes =
      header.bytes + engine::encode_payload_blocks(header, all, in.threads, out.subspan(header.bytes), in_place);
  if (!engine::is_worth_decoding(bytes, in.values.size())) {  // the sample was not like the rest
    if (in_place) engine::decode_in_place(header, all, out.first(bytes), out.last(in.values.size()));
    return {};
  }
  return {.codec = name(), .bytes = bytes, .relative = header.relative};
}

void lossless::decode(const decode_request& from) const {
  namespace engine = detail::lossless;
  const auto malformed = [&](const char* what) {
    fail(errc::corrupt, {from.where, ": \"", from.path, "\": the lossless payload is malformed: ", what});
  };
  engine::payload_header header;
  from.need(from.payload.first(std::min(from.payload.size(), header.bytes)));
  if (const char* const wrong = header.read(from.payload, engine::format_of(from.type))) malformed(wrong);
  if (header.relative != from.relative)
    malformed(header.relative ? "it needs the parent's elements, but the file says that it does not"
                              : "it does not need the parent's elements, but the file says that it does");
  if (!engine::decode_payload_blocks(header, from)) malformed("its blocks are not what was written");
}

std::optional<std::vector<std::byte>> lossless::merge(const merge_request& in) const {
  // A relative payload decoded over zeros is the XOR itself, and XOR is associative and commutative.
  std::vector<std::byte> sum(in.bytes), zeros(in.bytes);
  for (const auto& delta : in.deltas) {
    if (delta.codec != name()) return std::nullopt;
    decode({.where = delta.where,
            .path = in.path,
            .type = in.type,
            .payload = delta.payload,
            .values = sum,
            .threads = in.threads,
            .relative = true});
  }
  std::vector<std::byte> payload(bound(in.type, in.bytes));
  const auto done = lossless{.xor_parent = true}.encode({in.path, in.type, sum, zeros, in.threads}, payload);
  if (done.codec.empty() || !done.relative) return std::nullopt;  // it would not be smaller, or not a difference
  payload.resize(done.bytes);
  return payload;
}

}  // namespace cairn::inline v0_1::codecs
