// SPDX-License-Identifier: MIT
// A sample of the elements of a block -> which byte planes to code, and whether to take out zeros.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/huffman/counts.hpp"
#include "cairn/encode/lossless/elements.hpp"
#include "cairn/encode/simd/lossless_kernels.hpp"

namespace cairn::inline v0_1::detail::lossless {

// Estimates the coded bits of a sample of bytes; in integers, so that every machine decides alike.

/// Fractional bits of the estimates.
inline constexpr unsigned fraction_bits = 16;

/// log2(x) for 0 < x < 2^32, off by less than 0.01.
[[nodiscard]] constexpr std::uint64_t log2_fixed(std::uint64_t x) noexcept {
  const auto whole = static_cast<unsigned>(std::bit_width(x)) - 1;
  const std::uint64_t one = std::uint64_t{1} << fraction_bits;
  const std::uint64_t rest = (x << fraction_bits >> whole) - one;
  constexpr std::uint64_t bulge = 22700;  // of log2(1 + f) over f: 0.346 f (1 - f)
  const std::uint64_t more = (rest * (one - rest) >> fraction_bits) * bulge >> fraction_bits;
  return (std::uint64_t{whole} << fraction_bits) + rest + more;
}

/// x log2(x) for the counts of a sample.
inline constexpr auto count_logs = [] {
  std::array<std::uint64_t, strip_elements + 1> logs{};
  for (std::uint64_t x = 1; x < logs.size(); ++x) logs[x] = x * log2_fixed(x);
  return logs;
}();

/// Average coded bits of one of `total` < 2^31 bytes with these counts, in fixed point: their entropy, with Miller and
/// Madow's correction for small samples, but at least one bit where bytes differ, as Huffman codes have whole bits.
[[nodiscard]] inline std::uint64_t bits_per_byte(const huffman::byte_counts& counts, std::uint64_t total) noexcept {
  std::uint64_t logs = 0, symbols = 0;
  for (const auto count : counts) {
    logs += count < count_logs.size() ? count_logs[count] : count * log2_fixed(count);
    symbols += count != 0;
  }
  if (symbols < 2) return 0;
  constexpr std::uint64_t half_per_ln2 = 47274;  // 1 / (2 ln 2)
  const std::uint64_t entropy = log2_fixed(total) - std::min(logs / total, log2_fixed(total));
  return std::clamp<std::uint64_t>(entropy + (symbols - 1) * half_per_ln2 / total, std::uint64_t{1} << fraction_bits,
                                   std::uint64_t{8} << fraction_bits);
}

/// How a block is coded.
struct block_plan {
  bool without_zeros = false;
  bool rotated = false;       ///< rotate each element left by one bit
  unsigned coded_planes = 0;  ///< bit b: plane b is worth coding
  // Of the sample, in bits, fixed point:
  std::uint64_t sample_bits = 0;  ///< not coded
  std::uint64_t bits = 0;         ///< coded
  std::uint64_t cost = 0;         ///< coded, and the price of coding

  /// Adds the estimates of another plan.
  void add(const block_plan& other) noexcept {
    sample_bits += other.sample_bits;
    bits += other.bits;
    cost += other.cost;
  }
};

inline constexpr std::size_t sample_runs = 2 * strip_elements / 64, run_elements = 32;
static_assert(sample_runs * run_elements == strip_elements);

/// Copies 32 runs of 32 elements, evenly spaced, or all elements where there are no more. Returns their number.
inline std::size_t take_sample(const elements& from, strip_memory& sample) noexcept {
  const std::size_t width = from.format.width;
  strip_memory memory;
  const auto copy = [&](const elements& strip, std::size_t to) {
    std::memcpy(sample.data() + to * width, strip.words(memory), strip.count * width);
  };
  if (from.count <= strip_elements) {
    copy(from, 0);
    return from.count;
  }
  for (std::size_t run = 0; run < sample_runs; ++run)
    copy(from.range((from.count - run_elements) / (sample_runs - 1) * run, run_elements), run * run_elements);
  return strip_elements;
}

/// The time to code and decode a byte, in bits that it has to save: 3/8.
inline constexpr std::uint64_t price_of_coding = (std::uint64_t{3} << fraction_bits) / 8;

/// The plan for these words, rotated or not.
inline block_plan plan_planes(const std::byte* words, std::size_t count, std::size_t width, bool rotated) noexcept {
  strip_memory memory;
  std::array<std::byte*, sizeof(std::uint64_t)> planes{};
  for (std::size_t b = 0; b < width; ++b) planes[b] = memory.data() + b * count;
  simd::planes().of_width(width).split(words, count, rotated, planes.data());
  block_plan plan{.rotated = rotated};
  for (std::size_t b = 0; b < width; ++b) {
    constexpr std::uint64_t stored = std::uint64_t{8} << fraction_bits;
    const auto coded = bits_per_byte(huffman::count_bytes(std::span(planes[b], count)), count);
    const bool pays = coded + price_of_coding < stored;
    plan.coded_planes |= static_cast<unsigned>(pays) << b;
    plan.bits += (pays ? coded : stored) * count;
    plan.cost += (pays ? coded + price_of_coding : stored) * count;
  }
  return plan;
}

/// The highest byte of a floating-point number has the sign and most of the exponent. Where signs vary, rotating the
/// sign to the lowest bit leaves the exponent alone in the highest byte.
inline block_plan plan_words(const std::byte* words, std::size_t count, const element_format& format) noexcept {
  if (count == 0) return {};
  const auto plain = plan_planes(words, count, format.width, false);
  if (!format.floating) return plain;
  const auto rotated = plan_planes(words, count, format.width, true);
  return rotated.cost < plain.cost ? rotated : plain;
}

/// The plan of least cost for at least one element. Takes 3 to 10 microseconds, whatever the size of the block.
[[nodiscard]] inline block_plan plan_block(const elements& all) noexcept {
  const auto& format = all.format;
  const auto& zeros = simd::zeros().of_width(format.width);
  strip_memory sample, packed;
  const std::size_t count = take_sample(all, sample);
  std::array<std::byte, strip_elements / 8> marks;
  const std::size_t kept = zeros.mark(sample.data(), count, marks.data());
  auto with_zeros = plan_words(sample.data(), count, format);
  with_zeros.sample_bits = (std::uint64_t{8} << fraction_bits) * count * format.width;
  if (count - kept < count / 64 + 1) return with_zeros;

  zeros.pack(sample.data(), marks.data(), count, packed.data());
  auto without = plan_words(packed.data(), kept, format);
  without.without_zeros = true;
  without.sample_bits = with_zeros.sample_bits;
  const auto used = std::span(marks).first((count + 7) / 8);
  const auto bits_of_marks = bits_per_byte(huffman::count_bytes(used), used.size()) * used.size();
  without.bits += bits_of_marks;
  without.cost += bits_of_marks;
  return without.cost < with_zeros.cost ? without : with_zeros;
}

}  // namespace cairn::inline v0_1::detail::lossless
