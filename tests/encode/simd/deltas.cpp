// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lc_kernels.hpp"

#include "catch.hpp"

using namespace cairn::detail::simd;

namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Two vectors whose difference has few exponents and, here and there, anything.
struct pair {
  std::vector<float> u, a;

  pair(std::size_t n, std::uint32_t seed, bool finite) : u(n), a(n) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = normal(random);
      u[i] = a[i] + normal(random) * 0.01F;
      if (random() % 16 == 0) u[i] = a[i];
      if (random() % 64 == 0) u[i] = -0.0F, a[i] = 0.0F;  // their difference is -0
      if (random() % 64 == 0) u[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 1000)), a[i] = -0.0F;
      if (!finite && random() % 64 == 0) u[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (!finite && random() % 500 == 0) a[i] = std::numeric_limits<float>::infinity();
    }
  }
};

bool is_zero(std::uint32_t bits) { return bits << 1 == 0; }

/// Calls `check(kernels, length, offset)`: all lengths up to 4,200, the short ones at all offsets, the others each at
/// another one.
template <class Tables, class Check>
void on_all_targets(const Tables& tables, const Check& check) {
  CHECK_FALSE(tables.empty());
  for (const auto* kernels : tables) {
    CAPTURE(kernels->target);
    for (std::size_t n = 0; n <= 300; ++n)
      for (std::size_t offset = 0; offset < 16; ++offset) check(*kernels, n, offset);
    for (std::size_t n = 301; n <= 4200; ++n) check(*kernels, n, (n * 7 + n / 16) % 16);
  }
}

bool same(const float* a, const float* b, std::size_t n) { return n == 0 || std::memcmp(a, b, n * sizeof *a) == 0; }

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

symbol_table table_for(std::uint32_t top, std::uint32_t symbols) {
  symbol_table table;
  for (std::uint32_t s = 1; s <= symbols; ++s) {
    table.keys[s] = (s % 2 << 8) | (top - s / 2);
    table.values[s] = std::bit_cast<float>(table.keys[s] << 23 | 0x34'5678);
  }
  return table;
}

std::uint32_t symbol_of(float d, const symbol_table& table) {
  if (is_zero(bits_of(d))) return 0;
  for (std::uint32_t s = 1; s < 8; ++s)
    if (table.keys[s] == bits_of(d) >> 23) return s;
  return 0;
}

/// Symbols packed as buckets.hpp says.
std::vector<std::byte> reference_pack(const std::vector<std::uint32_t>& symbols, int bits) {
  const std::uint32_t slot = bits == 2 ? 2 : 4;
  const std::size_t block = 16U * 32 / slot;
  std::vector<std::uint32_t> words((symbols.size() + block - 1) / block * 16);
  for (std::size_t i = 0; i < symbols.size(); ++i)
    words[i / block * 16 + i % 16] |= symbols[i] << (i % block / 16 * slot);
  std::vector<std::byte> bytes(words.size() * 4);
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("symbols: packing classifies and adds, adding packed symbols does the same") {
  const pair x(4300, 3, true);
  on_all_targets(all_symbols(), [&](const symbols_kernels& kernels, std::size_t n, std::size_t offset) {
    for (const int bits : {2, 3}) {
      const auto most = (1U << static_cast<unsigned>(bits)) - 1;
      const auto used = 1 + static_cast<std::uint32_t>(n) % most;  // the others are unused: no delta has their symbols
      const auto table = table_for(n % 5 == 0 ? 3 : 120, used);
      std::vector<std::uint32_t> symbols(n);
      std::vector<float> expected(x.a.begin() + static_cast<std::ptrdiff_t>(offset),
                                  x.a.begin() + static_cast<std::ptrdiff_t>(offset + n));
      for (std::size_t i = 0; i < n; ++i) {
        symbols[i] = symbol_of(x.u[offset + i] - x.a[offset + i], table);
        expected[i] += table.values[symbols[i]];
      }
      const auto packed_right = reference_pack(symbols, bits);

      std::vector<std::byte> packed(packed_right.size() + 64, std::byte{0xA5});
      std::vector<float> b(n + 32, 7.0F);
      const auto pack = bits == 2 ? kernels.pack2 : kernels.pack3;
      pack(x.u.data() + offset, x.a.data() + offset, n, table, b.data() + offset, packed.data());
      bool good = std::equal(packed_right.begin(), packed_right.end(), packed.begin()) &&
                  same(b.data() + offset, expected.data(), n);
      for (std::size_t i = packed_right.size(); i < packed.size(); ++i) good = good && packed[i] == std::byte{0xA5};
      for (std::size_t i = 0; i < b.size(); ++i) good = good && (b[i] == 7.0F || (i >= offset && i < offset + n));

      auto in_place = x.a;
      pack(x.u.data() + offset, in_place.data() + offset, n, table, in_place.data() + offset, packed.data());
      good = good && same(in_place.data() + offset, expected.data(), n);
      auto added = x.a;
      (bits == 2 ? kernels.add2 : kernels.add3)(packed.data(), n, table, added.data() + offset);
      good = good && same(added.data(), in_place.data(), added.size());
      if (!good) FAIL("length " << n << ", " << bits << " bits");
    }
  });
}
