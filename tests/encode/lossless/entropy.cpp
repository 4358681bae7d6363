// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/entropy.hpp"

#include <cmath>
#include <random>

#include "catch.hpp"

namespace {

constexpr double one = 1 << cairn::detail::lossless::fraction_bits;

double bits(const cairn::detail::huffman::byte_counts& counts, std::uint64_t total) {
  return static_cast<double>(cairn::detail::lossless::bits_per_byte(counts, total)) / one;
}

}  // namespace

TEST_CASE("the logarithm in integers is within 0.01 of the real one") {
  double worst = 0;
  for (std::uint64_t x = 1; x < 5'000; ++x)
    worst = std::max(worst, std::abs(static_cast<double>(cairn::detail::lossless::log2_fixed(x)) / one -
                                     std::log2(static_cast<double>(x))));
  for (std::uint64_t x = 5'000; x < (std::uint64_t{1} << 32); x = x * 5 / 4)
    worst = std::max(worst, std::abs(static_cast<double>(cairn::detail::lossless::log2_fixed(x)) / one -
                                     std::log2(static_cast<double>(x))));
  CHECK(worst < 0.01);
  CHECK(cairn::detail::lossless::log2_fixed(1) == 0);
  CHECK(cairn::detail::lossless::log2_fixed(1024) == std::uint64_t{10} << cairn::detail::lossless::fraction_bits);
}

TEST_CASE("bits per byte are the entropy, at least one and at most eight") {
  cairn::detail::huffman::byte_counts counts{};
  counts[5] = 1000;
  CHECK(bits(counts, 1000) == 0);
  counts[6] = 1;
  CHECK(bits(counts, 1001) == 1);
  counts[6] = 1000;
  CHECK(bits(counts, 2000) == Catch::Approx(1).margin(0.02));
  for (std::size_t s = 0; s < 16; ++s) counts[s] = 10'000;
  CHECK(bits(counts, 160'000) == Catch::Approx(4).margin(0.02));
  counts.fill(10'000);
  CHECK(bits(counts, 2'560'000) == Catch::Approx(8).margin(0.02));
}

TEST_CASE("a sample of random bytes is known for what it is") {
  std::mt19937 random(1);
  for (const unsigned values : {256U, 128U, 40U}) {
    double sum = 0;
    constexpr int samples = 50, bytes = 1024;
    for (int i = 0; i < samples; ++i) {
      cairn::detail::huffman::byte_counts counts{};
      for (int b = 0; b < bytes; ++b) ++counts[random() % values];
      sum += bits(counts, bytes);
    }
    CHECK(sum / samples == Catch::Approx(std::log2(values)).margin(0.05));
  }
}
