// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/plan.hpp"

#include "catch.hpp"

using namespace cairn::detail::lossless;

namespace {

constexpr std::size_t count = 100'000;

template <class Value>
elements elements_of(cairn::dtype type, const std::vector<Value>& values) {
  return {format_of(type), reinterpret_cast<const std::byte*>(values.data()), nullptr, values.size()};
}

std::vector<float> gaussian(std::size_t zeros_per_10) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.03F);
  std::vector<float> made(count);
  for (auto& each : made) each = random() % 10 < zeros_per_10 ? 0 : normal(random);
  return made;
}

constexpr double one_bit = 1 << fraction_bits;

double bits(const cairn::detail::huffman::byte_counts& counts, std::uint64_t total) {
  return static_cast<double>(bits_per_byte(counts, total)) / one_bit;
}

}  // namespace

TEST_CASE("where all signs are alike, they stay with the exponents") {
  auto squares = gaussian(0);
  for (auto& each : squares) each *= each;
  const auto plan = plan_block(elements_of(cairn::dtype::f32, squares));
  CHECK_FALSE(plan.rotated);
  CHECK(plan.coded_planes == 8);
}

TEST_CASE("a plan knows about how many bits its sample takes") {
  const auto part = [](cairn::dtype type, const auto& values) {
    const auto plan = plan_block(elements_of(type, values));
    return static_cast<double>(plan.bits) / static_cast<double>(plan.sample_bits);
  };
  CHECK(part(cairn::dtype::f32, gaussian(0)) == Approx(0.83).margin(0.01));
  CHECK(part(cairn::dtype::f32, gaussian(10)) == 0);
  CHECK(part(cairn::dtype::f32, gaussian(5)) == Approx(0.83 / 2 + 1 / 32.0).margin(0.03));
  std::mt19937 random(3);
  std::vector<std::uint32_t> integers(count);
  for (auto& each : integers) each = static_cast<std::uint32_t>(random());
  CHECK(part(cairn::dtype::u32, integers) == 1);
  for (auto& each : integers) each &= 0xF0FFFFFF;
  CHECK(part(cairn::dtype::u32, integers) == Approx(28 / 32.0).margin(0.01));
}

TEST_CASE("the logarithm in integers is within 0.01 of the real one") {
  double worst = 0;
  for (std::uint64_t x = 1; x < 5'000; ++x)
    worst = std::max(worst, std::abs(static_cast<double>(log2_fixed(x)) / one_bit - std::log2(static_cast<double>(x))));
  for (std::uint64_t x = 5'000; x < (std::uint64_t{1} << 32); x = x * 5 / 4)
    worst = std::max(worst, std::abs(static_cast<double>(log2_fixed(x)) / one_bit - std::log2(static_cast<double>(x))));
  CHECK(worst < 0.01);
  CHECK(log2_fixed(1) == 0);
  CHECK(log2_fixed(1024) == std::uint64_t{10} << fraction_bits);
}

TEST_CASE("bits per byte are the entropy, at least one and at most eight") {
  cairn::detail::huffman::byte_counts counts{};
  counts[5] = 1000;
  CHECK(bits(counts, 1000) == 0);
  counts[6] = 1;
  CHECK(bits(counts, 1001) == 1);
  counts[6] = 1000;
  CHECK(bits(counts, 2000) == Approx(1).margin(0.02));
  for (std::size_t s = 0; s < 16; ++s) counts[s] = 10'000;
  CHECK(bits(counts, 160'000) == Approx(4).margin(0.02));
  counts.fill(10'000);
  CHECK(bits(counts, 2'560'000) == Approx(8).margin(0.02));
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
    CHECK(sum / samples == Approx(std::log2(values)).margin(0.05));
  }
}
