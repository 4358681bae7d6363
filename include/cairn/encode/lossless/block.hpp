// SPDX-License-Identifier: MIT
// A block of elements -> marks of its zeros, and its byte planes, each coded or stored; and back.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "cairn/encode/huffman/block.hpp"
#include "cairn/encode/lossless/elements.hpp"
#include "cairn/encode/lossless/plan.hpp"
#include "cairn/encode/simd/lossless_kernels.hpp"

namespace cairn::inline v0_1::detail::lossless {

/// Layout, numbers little-endian:
///   u8 flags: bit 0 zeros are left out, bit 1 rotated; u8 set of coded planes
///   if zeros are left out: u32 elements kept, u32 bytes of the marks
///   for every coded plane, the lowest first: u32 bytes
/// The header is followed by the planes that are not coded, the marks, and the coded planes, the lowest plane first.
struct block_header {
  bool without_zeros = false;
  bool rotated = false;       ///< each element was rotated left by one bit
  unsigned coded_planes = 0;  ///< bit b: plane b is coded
  std::uint32_t kept = 0;     ///< elements in the planes
  std::uint32_t marks_bytes = 0;
  std::array<std::uint32_t, sizeof(std::uint64_t)> coded_bytes{};  ///< by plane; 0: not coded

  static constexpr unsigned zeros_flag = 1, rotated_flag = 2;
  /// The largest size of a header.
  static constexpr std::size_t bound = 2 + 10 * sizeof(std::uint32_t);

  [[nodiscard]] bool is_coded(std::size_t plane) const noexcept { return (coded_planes >> plane & 1) != 0; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    const auto coded = static_cast<std::size_t>(std::popcount(coded_planes));
    return 2 + sizeof(std::uint32_t) * (coded + (without_zeros ? 2 : 0));
  }

  /// Writes `bytes()` bytes.
  void write(std::byte* out) const noexcept {
    *out++ = static_cast<std::byte>((without_zeros ? zeros_flag : 0) | (rotated ? rotated_flag : 0));
    *out++ = static_cast<std::byte>(coded_planes);
    const auto put = [&](std::uint32_t number) {
      std::memcpy(out, &number, sizeof number);
      out += sizeof number;
    };
    if (without_zeros) {
      put(kept);
      put(marks_bytes);
    }
    for (std::size_t b = 0; b < coded_bytes.size(); ++b)
      if (is_coded(b)) put(coded_bytes[b]);
  }

  /// Reads the header of a block of `count` elements of `width` bytes. False unless the block has the size of `in`.
  [[nodiscard]] bool read(std::span<const std::byte> in, std::size_t count, std::size_t width) noexcept {
    if (in.size() < 2) return false;
    *this = {};
    const auto flags = std::to_integer<unsigned>(in[0]);
    if ((flags & ~(zeros_flag | rotated_flag)) != 0) return false;
    without_zeros = (flags & zeros_flag) != 0;
    rotated = (flags & rotated_flag) != 0;
    coded_planes = std::to_integer<unsigned>(in[1]);
    if (coded_planes >> width != 0 || in.size() < bytes()) return false;
    const std::byte* at = in.data() + 2;
    const auto take = [&](std::uint32_t& number) {
      std::memcpy(&number, at, sizeof number);
      at += sizeof number;
    };
    kept = static_cast<std::uint32_t>(count);
    if (without_zeros) {
      take(kept);
      take(marks_bytes);
    }
    if (kept > count) return false;
    std::uint64_t all = bytes() + std::uint64_t{marks_bytes};
    for (std::size_t b = 0; b < width; ++b) {
      if (is_coded(b)) take(coded_bytes[b]);
      all += is_coded(b) ? coded_bytes[b] : kept;
    }
    return all == in.size();
  }
};

/// Scratch memory for one block of up to `count` elements.
class block_memory {
 public:
  block_memory(std::size_t count, std::size_t width)
      : planes_(std::make_unique_for_overwrite<std::byte[]>(count * width)),
        marks_(std::make_unique_for_overwrite<std::byte[]>((count + 7) / 8)) {}

  [[nodiscard]] std::byte* planes() const noexcept { return planes_.get(); }
  [[nodiscard]] std::span<std::byte> marks(std::size_t count) const noexcept { return {marks_.get(), (count + 7) / 8}; }

 private:
  std::unique_ptr<std::byte[]> planes_, marks_;
};

/// The largest size of a block of `count` elements, and the room that `encode_elements` needs.
[[nodiscard]] constexpr std::size_t elements_bound(std::size_t count, std::size_t width) noexcept {
  return block_header::bound + count * width + (width + 1) * huffman::block_slack;
}

using plane_pointers = std::array<std::byte*, sizeof(std::uint64_t)>;
using const_plane_pointers = std::array<const std::byte*, sizeof(std::uint64_t)>;

/// Sets a bit for each element that is not zero. Returns their number.
inline std::size_t mark_elements(const elements& in, std::span<std::byte> marks) noexcept {
  const auto& kernels = simd::zeros().of_width(in.format.width);
  strip_memory memory;
  std::size_t kept = 0;
  in.for_each_strip([&](std::size_t first, const elements& strip) {
    kept += kernels.mark(strip.words(memory), strip.count, marks.data() + first / 8);
  });
  return kept;
}

/// Splits all elements, or with `marks` the marked ones, into byte planes.
inline void split_elements(const elements& in, const std::byte* marks, bool rotated, plane_pointers planes) noexcept {
  const auto& kernels = simd::planes().of_width(in.format.width);
  const auto& zeros = simd::zeros().of_width(in.format.width);
  if (in.reference == nullptr && marks == nullptr) return kernels.split(in.values, in.count, rotated, planes.data());
  strip_memory memory, packed;
  in.for_each_strip([&](std::size_t first, const elements& strip) {
    const std::byte* words = strip.words(memory);
    std::size_t count = strip.count;
    if (marks != nullptr) {
      count = zeros.pack(words, marks + first / 8, count, packed.data());
      words = packed.data();
    }
    kernels.split(words, count, rotated, planes.data());
    for (std::size_t b = 0; b < in.format.width; ++b) planes[b] += count;
  });
}

/// The reverse of `split_elements`, to `out`; with `relative` the result is XORed with what `out` holds.
inline void merge_elements(const_plane_pointers planes, const std::byte* marks, bool rotated, bool relative,
                           std::size_t width, std::span<std::byte> out) noexcept {
  const auto& kernels = simd::planes().of_width(width);
  const auto& zeros = simd::zeros().of_width(width);
  const std::size_t all = out.size() / width;
  if (!relative && marks == nullptr) return kernels.merge(planes.data(), all, rotated, out.data());
  strip_memory memory, packed;
  for (std::size_t first = 0; first < all; first += strip_elements) {
    const std::size_t count = std::min(strip_elements, all - first);
    std::byte* const to = out.data() + first * width;
    std::byte* const words = relative ? memory.data() : to;
    std::size_t kept = count;
    if (marks != nullptr) {
      kept = simd::zeros().count_marks(marks + first / 8, (count + 7) / 8);
      kernels.merge(planes.data(), kept, rotated, packed.data());
      zeros.unpack(packed.data(), marks + first / 8, count, words);
    } else {
      kernels.merge(planes.data(), count, rotated, words);
    }
    if (relative) simd::planes().combine(to, words, count * width, to);
    for (std::size_t b = 0; b < width; ++b) planes[b] += kept;
  }
}

/// Whether these are marks of `count` elements with `kept` bits set.
inline bool are_marks(std::span<const std::byte> marks, std::size_t count, std::size_t kept) noexcept {
  if (count % 8 != 0 && std::to_integer<unsigned>(marks.back()) >> count % 8 != 0) return false;
  return simd::zeros().count_marks(marks.data(), marks.size()) == kept;
}

/// Encodes 1 element to 2^28 bytes of elements to `out`, which has `elements_bound` bytes. Returns the bytes used.
[[nodiscard]] inline std::size_t encode_elements(const elements& in, const block_memory& memory,
                                                 std::span<std::byte> out) {
  const std::size_t width = in.format.width;
  const auto marks = memory.marks(in.count);
  const auto plan = plan_block(in);
  block_header header{
      .rotated = plan.rotated, .coded_planes = plan.coded_planes, .kept = static_cast<std::uint32_t>(in.count)};
  if (plan.without_zeros) {
    const std::size_t kept = mark_elements(in, marks);
    header.without_zeros = kept * width + marks.size() < in.count * width;  // the plan saw a sample only
    if (header.without_zeros) header.kept = static_cast<std::uint32_t>(kept);
  }

  // Planes that are not coded are split into `out` directly.
  std::size_t end = header.bytes(), used = 0;
  plane_pointers planes{};
  for (std::size_t b = 0; b < width; ++b) {
    planes[b] = header.is_coded(b) ? memory.planes() + used : out.data() + end;
    (header.is_coded(b) ? used : end) += header.kept;
  }
  split_elements(in, header.without_zeros ? marks.data() : nullptr, header.rotated, planes);
  const auto append = [&](std::span<const std::byte> bytes) {
    const std::size_t size = huffman::encode_block(bytes, out.subspan(end, huffman::block_bound(bytes.size())));
    end += size;
    return static_cast<std::uint32_t>(size);
  };
  if (header.without_zeros) header.marks_bytes = append(marks);
  for (std::size_t b = 0; b < width; ++b)
    if (header.is_coded(b)) header.coded_bytes[b] = append({planes[b], header.kept});
  header.write(out.data());
  return end;
}

/// Decodes the block `in` to `out`; with `relative`, XORs it with what `out` holds. False unless `in` is exactly one
/// block of as many elements; the contents of `out` are then undefined.
[[nodiscard]] inline bool decode_elements(std::span<const std::byte> in, std::size_t width, bool relative,
                                          const block_memory& memory, std::span<std::byte> out) noexcept {
  const std::size_t count = out.size() / width;
  block_header header;
  if (!header.read(in, count, width)) return false;

  std::size_t at = header.bytes();
  const auto take = [&](std::size_t bytes) { return in.subspan(std::exchange(at, at + bytes), bytes); };
  const_plane_pointers planes{};
  for (std::size_t b = 0; b < width; ++b)
    if (!header.is_coded(b)) planes[b] = take(header.kept).data();
  const auto marks = memory.marks(count);
  if (header.without_zeros &&
      !(huffman::decode_block(take(header.marks_bytes), marks) && are_marks(marks, count, header.kept)))
    return false;
  std::size_t used = 0;
  for (std::size_t b = 0; b < width; ++b) {
    if (!header.is_coded(b)) continue;
    const std::span plane(memory.planes() + std::exchange(used, used + header.kept), header.kept);
    if (!huffman::decode_block(take(header.coded_bytes[b]), plane)) return false;
    planes[b] = plane.data();
  }
  merge_elements(planes, header.without_zeros ? marks.data() : nullptr, header.rotated, relative, width, out);
  return true;
}

}  // namespace cairn::inline v0_1::detail::lossless
