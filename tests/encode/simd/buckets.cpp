// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lc_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "encode/simd/float_pairs.hpp"

using namespace cairn::detail::simd;
using namespace float_pairs;

namespace {

/// The range of all floats of a sign and an exponent but zero.
bucket_range range_of(std::uint32_t key) {
  const std::uint32_t first = key << 23;
  return {first + (is_zero(first) ? 1U : 0U), first | 0x7F'FFFF};
}

magnitudes reference_survey(const pair& x, std::size_t begin, std::size_t n, std::uint32_t ceiling,
                            const bucket_range (&ranges)[4], bucket_reach (&reaches)[4]) {
  magnitudes found;
  for (std::size_t k = 0; k < 4; ++k) reaches[k] = {};
  for (std::size_t i = begin; i < begin + n; ++i) {
    const std::uint32_t d = bits_of(x.u[i] - x.a[i]), magnitude = d & 0x7FFF'FFFF;
    found.largest = std::max(found.largest, magnitude);
    if (magnitude < ceiling) found.largest_below = std::max(found.largest_below, magnitude);
    for (std::size_t k = 0; k < 4; ++k)
      if (d >= ranges[k].first && d <= ranges[k].last) {
        reaches[k].least = std::min(reaches[k].least, d);
        reaches[k].greatest = std::max(reaches[k].greatest, d);
      }
  }
  return found;
}

}  // namespace

TEST_CASE("buckets: deltas of any length") {
  const pair x(4300, 1, true);
  on_all_targets(all_buckets(), [&](const buckets_kernels& kernels, std::size_t n, std::size_t offset) {
    std::vector<float> out(n + 32, 7.0F), expected = out;
    for (std::size_t i = 0; i < n; ++i) expected[offset + i] = x.u[offset + i] - x.a[offset + i];
    kernels.deltas(x.u.data() + offset, x.a.data() + offset, n, out.data() + offset);
    if (!same(out.data(), expected.data(), out.size())) FAIL("length " << n);
  });
}

TEST_CASE("buckets: a survey finds the reach of buckets and the largest magnitudes") {
  const pair x(4300, 2, false);
  const std::uint32_t keys[2][4] = {{120, 256 + 120, 119, 0}, {256 + 0, 256 + 117, 1, 300}};
  on_all_targets(all_buckets(), [&](const buckets_kernels& kernels, std::size_t n, std::size_t offset) {
    const auto ceiling = n % 3 == 0 ? 0x7F80'0000U : static_cast<std::uint32_t>(119 + n % 5) << 23;
    for (const auto& four : keys) {
      bucket_range ranges[4];
      for (std::size_t k = 0; k < 4; ++k) ranges[k] = range_of(four[k]);
      bucket_reach expected[4], found[4];
      const auto top = reference_survey(x, offset, n, ceiling, ranges, expected);
      const auto real = kernels.survey(x.u.data() + offset, x.a.data() + offset, n, ceiling, ranges, found);
      bool good = (real.largest == top.largest || top.largest > 0x7F80'0000) && real.largest_below == top.largest_below;
      for (std::size_t k = 0; k < 4; ++k)
        good = good && found[k].least == expected[k].least && found[k].greatest == expected[k].greatest;
      if (!good) FAIL("length " << n);
    }
  });
}

TEST_CASE("buckets: error sums have the same bits everywhere, and are right") {
  const pair x(4300, 4, true);
  on_all_targets(all_buckets(), [&](const buckets_kernels& kernels, std::size_t n, std::size_t offset) {
    double squares[16] = {}, real_squares[16] = {}, largest = 0;
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double u = static_cast<double>(x.u[offset + i]), e = static_cast<double>(x.a[offset + i]) - u;
      const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(e) & 0xFFFF'FFFF'F800'0000U);
      squares[i % 16] += cut * cut;
      real_squares[i % 16] += u * u;
      largest = std::max(largest, std::abs(e));
      sum += static_cast<long double>(e) * static_cast<long double>(e);
    }
    for (std::size_t half = 8; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) squares[i] += squares[i + half], real_squares[i] += real_squares[i + half];
    const auto found = kernels.errors(x.u.data() + offset, x.a.data() + offset, n);
    if (found.squares != squares[0] || found.real_squares != real_squares[0] || found.largest != largest ||
        std::abs(static_cast<double>(sum) - found.squares) > 1e-6 * found.squares)
      FAIL("length " << n);
  });
}

TEST_CASE("buckets: sums of the squares of deltas have the same bits everywhere, and are right") {
  const pair x(4300, 4, true);
  on_all_targets(all_buckets(), [&](const buckets_kernels& kernels, std::size_t n, std::size_t offset) {
    double sums[16] = {};
    for (std::size_t i = 0; i < n; ++i) {
      const auto d = static_cast<double>(x.u[offset + i] - x.a[offset + i]);
      sums[i % 16] += d * d;
    }
    for (std::size_t half = 8; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    if (kernels.squares(x.u.data() + offset, x.a.data() + offset, n) != sums[0]) FAIL("length " << n);
  });
}
