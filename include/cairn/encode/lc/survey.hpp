// SPDX-License-Identifier: MIT
// The deltas of a leaf -> the buckets to promote.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/encode/lc/buckets.hpp"
#include "cairn/encode/lc/elements.hpp"
#include "cairn/encode/simd/lc_kernels.hpp"

namespace cairn::inline v0_1::detail::lc {

/// What a survey of deltas found.
struct survey_result {
  std::vector<promoted> chosen;  ///< by priority
  bool all_finite = true;
};

/// Calls `visit(u, a, n, sum)` for the strips of all blocks, in parallel: see for_each_delta_strip. Each of up to 64
/// groups of consecutive blocks has a copy of `nothing` as its `sum`; returns their total.
template <class Sum, class Visit>
[[nodiscard]] Sum sum_over_strips(const delta_view& delta, unsigned threads, const Sum& nothing, const Visit& visit) {
  const std::size_t blocks = blocks_of(delta.count()), groups = std::min<std::size_t>(blocks, 64);
  std::vector<Sum> sums(std::max<std::size_t>(groups, 1), nothing);
  parallel_for(groups, threads, [&](std::size_t group, unsigned) {
    const default_float_environment guard;
    for (std::size_t block = blocks * group / groups; block < blocks * (group + 1) / groups; ++block) {
      const std::size_t begin = block * block_elements;
      for_each_delta_strip(delta, begin, begin + block_size(delta.count(), block),
                           [&](const float* u, const float* a, std::size_t n) { visit(u, a, n, sums[group]); });
    }
  });
  for (std::size_t group = 1; group < sums.size(); ++group) sums[0].add(sums[group]);
  return sums[0];
}

/// Finds the extremes of the buckets of largest magnitude below a ceiling, in one pass: it tracks only the `width`
/// exponents, of both signs, up to the largest one seen so far. When an element exceeds the window, the window moves
/// up, and the strip is seen again. This is exact: a bucket that enters the window has had no members before, or the
/// window would have been higher.
///
/// For example, with width 2 and deltas 3, -5, 20, 9, .1: the window moves up to the exponent of [2..4) for 3, to
/// [4..8) for -5, and to [16..32) for 20. It then covers the magnitudes from 8 to 32. Result: +[16..32): 20 to 20,
/// +[8..16): 9 to 9; the bucket -[4..8) has left the window. A third bucket takes another pass with the ceiling 8, the
/// bottom of the window.
class sliding_window {
 public:
  /// `width` exponents: 2 or 4.
  sliding_window(std::uint32_t ceiling, std::uint32_t width) : ceiling_(ceiling), width_(width) {}

  void see(const float* u, const float* a, std::size_t n) noexcept {
    while (!see_through_window(u, a, n)) {
    }
  }

  void add(const sliding_window& more) noexcept {
    largest_ = std::max(largest_, more.largest_);
    top_ = std::max(top_, more.top_);
    for (std::size_t k = 0; k < bucket_keys; ++k) widen(k, more.reaches_[k]);
  }

  [[nodiscard]] bool all_finite() const noexcept { return largest_ < float_exponent_bits; }

  /// The lowest magnitude in the window, as bits of a float. Nothing is known of those below it.
  [[nodiscard]] std::uint32_t bottom() const noexcept { return lowest() << 23; }

  /// The buckets in the window, by descending exponent.
  [[nodiscard]] std::vector<bucket> buckets() const {
    std::vector<bucket> found;
    for (std::uint32_t exponent = top_ + 1; exponent-- > lowest();)
      for (const bucket_key key : {exponent, exponent | 256}) {
        const auto& reach = reaches_[key];
        if (reach.least > reach.greatest) continue;
        const auto least = std::bit_cast<float>(reach.least), greatest = std::bit_cast<float>(reach.greatest);
        found.push_back({key, 0, std::min(least, greatest), std::max(least, greatest)});
      }
    return found;
  }

 private:
  [[nodiscard]] std::uint32_t lowest() const noexcept { return top_ + 1 < width_ ? 0 : top_ + 1 - width_; }

  void widen(std::size_t key, const simd::bucket_reach& more) noexcept {
    auto& reach = reaches_[key];
    reach.least = std::min(reach.least, more.least);
    reach.greatest = std::max(reach.greatest, more.greatest);
  }

  /// False when an element exceeded the window, which has moved.
  bool see_through_window(const float* u, const float* a, std::size_t n) noexcept {
    const auto& kernels = simd::buckets();
    for (std::uint32_t pair = 0; pair < width_; pair += 2) {
      simd::bucket_range ranges[4];
      simd::bucket_reach reaches[4];
      bucket_key keys[4] = {};
      for (std::uint32_t i = 0; i < 4 && pair + i / 2 <= top_; ++i) {
        keys[i] = (top_ - pair - i / 2) | i % 2 << 8;
        const std::uint32_t first = keys[i] << 23;
        ranges[i] = {first + (first << 1 == 0), first | 0x7F'FFFF};
      }
      const auto found = kernels.survey(u, a, n, ceiling_, ranges, reaches);
      const std::uint32_t exponent = found.largest_below >> 23;
      if (exponent > top_) {
        top_ = exponent;
        return false;
      }
      largest_ = std::max(largest_, found.largest);
      for (std::uint32_t i = 0; i < 4 && pair + i / 2 <= top_; ++i) widen(keys[i], reaches[i]);
    }
    return true;
  }

  std::array<simd::bucket_reach, bucket_keys> reaches_{};
  std::uint32_t ceiling_, width_;
  std::uint32_t largest_ = 0, top_ = 0;
};

/// The statistics of all buckets. Takes about ten times as long as `survey_largest`.
[[nodiscard]] inline bucket_table survey_all(const delta_view& delta, unsigned threads) {
  return sum_over_strips(delta, threads, bucket_table(),
                         [](const float* u, const float* a, std::size_t n, bucket_table& table) {
                           strip d;
                           simd::buckets().deltas(u, a, n, d.floats);
                           table.add(std::span<const float>(d.floats, n));
                         });
}

/// The `most` buckets (3 or 7) of largest magnitude. One pass over the deltas where their exponents are adjacent,
/// and one more for every gap.
[[nodiscard]] inline survey_result survey_largest(const delta_view& delta, std::size_t most, unsigned threads) {
  survey_result result;
  std::vector<bucket> found;
  for (std::uint32_t ceiling = float_exponent_bits; found.size() < most;) {
    const auto window =
        sum_over_strips(delta, threads, sliding_window(ceiling, most > 3 ? 4 : 2),
                        [](const float* u, const float* a, std::size_t n, sliding_window& sum) { sum.see(u, a, n); });
    result.all_finite = window.all_finite();
    const auto more = window.buckets();
    found.insert(found.end(), more.begin(), more.end());
    ceiling = window.bottom();
    if (more.empty() || ceiling == 0) break;
  }
  result.chosen = promote(found, promotion::magnitude, most);
  return result;
}

/// The `most` buckets (3 or 7) of highest priority.
[[nodiscard]] inline survey_result survey(const delta_view& delta, const options& options, std::size_t most,
                                          unsigned threads) {
  const default_float_environment guard;
  if (options.priority == promotion::magnitude) return survey_largest(delta, most, threads);
  const auto table = survey_all(delta, threads);
  return {promote(table.buckets(), options.priority, most), table.exceptions() == 0};
}

}  // namespace cairn::inline v0_1::detail::lc
