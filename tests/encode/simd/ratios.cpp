// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lc_kernels.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "encode/simd/float_pairs.hpp"

using namespace cairn::detail::simd;
using namespace float_pairs;

namespace {

/// Numbers of all kinds: near to each other, of other signs, zeros, denormals, infinities and NaN.
pair any_pairs(std::size_t n) {
  pair made(n, 5, true);
  std::mt19937 random(6);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 3 == 0)
      made.u[i] =
          std::bit_cast<float>(bits_of(made.a[i]) + static_cast<std::uint32_t>(random() % (1U << 25)) - (1U << 24));
    if (i % 11 == 0) made.u[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 9));
    if (i % 22 == 0) made.a[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 9));
    if (i % 29 == 0) made.u[i] = random() % 2 == 0 ? std::numeric_limits<float>::infinity() : 0.0F;
    if (i % 31 == 0) made.a[i] = random() % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -0.0F;
    if (i % 37 == 0) made.a[i] = made.u[i];
  }
  return made;
}

float reference_ratio(float u, float a) {
  if (std::signbit(u) != std::signbit(a) || (u == 0) != (a == 0) || !std::isfinite(u) || !std::isfinite(a)) return 0;
  return static_cast<float>(static_cast<std::int64_t>(bits_of(u)) - static_cast<std::int64_t>(bits_of(a)));
}

bool reference_near(float u, float b) {
  if (bits_of(u) == bits_of(b)) return true;
  const double quotient = static_cast<double>(b) / static_cast<double>(u);
  return std::isfinite(u) && std::isfinite(b) && quotient >= 0.5 && quotient <= 2;
}

}  // namespace

TEST_CASE("ratios: differences of bits, and back") {
  const auto x = any_pairs(4300);
  on_all_targets(all_ratios(), [&](const ratios_kernels& kernels, std::size_t n, std::size_t offset) {
    std::vector<float> out(n + 32, 7.0F), expected = out;
    for (std::size_t i = 0; i < n; ++i) expected[offset + i] = reference_ratio(x.u[offset + i], x.a[offset + i]);
    kernels.ratios(x.u.data() + offset, x.a.data() + offset, n, out.data() + offset);
    bool good = same(out.data(), expected.data(), out.size());
    for (std::size_t i = offset; i < offset + n; ++i)
      expected[i] =
          std::bit_cast<float>(bits_of(x.a[i]) + static_cast<std::uint32_t>(static_cast<std::int64_t>(out[i])));
    kernels.multiply(x.a.data() + offset, out.data() + offset, n, out.data() + offset);
    good = good && same(out.data() + offset, expected.data() + offset, n);
    if (!good) FAIL("length " << n);
  });
}

TEST_CASE("ratios: one element that is not near is found") {
  const auto x = any_pairs(4300);
  std::size_t near = 0;
  on_all_targets(all_ratios(), [&](const ratios_kernels& kernels, std::size_t n, std::size_t offset) {
    auto b = x.u;
    bool good = kernels.are_near(x.u.data() + offset, b.data() + offset, n);
    for (std::size_t k = 0; k < std::min<std::size_t>(n, 40); ++k) {
      const std::size_t i = offset + (k * 977 + n) % n;
      b[i] = x.a[i];
      const bool expected = reference_near(x.u[i], b[i]);
      near += expected;
      good = good && kernels.are_near(x.u.data() + offset, b.data() + offset, n) == expected;
      b[i] = x.u[i];
    }
    if (!good) FAIL("length " << n);
  });
  CHECK(near > 100);
}
