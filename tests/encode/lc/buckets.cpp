// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/buckets.hpp"
#include "cairn/encode/lc/survey.hpp"
#include "cairn/encode/lc/quantize.hpp"

#include "cairn/encode/lc/elements.hpp"
#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail::lc;

namespace {

const std::vector<float> example = {0.76F, -0.48F, 0.2F, 0.07F, 0.18F, 0.49F, 0.14F, 0.39F, 0.82F, 0.09F};

std::vector<bucket> buckets_of(const std::vector<float>& delta) {
  bucket_table table;
  table.add(delta);
  return table.buckets();
}

TEST_CASE("lc/buckets: the published example") {
  const auto buckets = buckets_of(example);
  REQUIRE(buckets.size() == 5);
  std::map<float, std::uint64_t> values;
  for (const auto& b : buckets) values[midpoint_of(b)] = b.count;
  const std::vector<std::pair<double, std::uint64_t>> expected = {
      {-0.48, 1}, {0.08, 2}, {0.17, 3}, {0.44, 2}, {0.79, 2}};
  REQUIRE(values.size() == expected.size());
  auto at = values.begin();
  for (const auto& [value, count] : expected) {
    CHECK(at->first == Approx(value).epsilon(1e-6));
    CHECK(at->second == count);
    ++at;
  }

  const auto chosen = promote(buckets, promotion::magnitude, 3);
  REQUIRE(chosen.size() == 3);
  CHECK(chosen[0].value == Approx(0.79));
  CHECK(chosen[1].value == Approx(-0.48));
  CHECK(chosen[2].value == Approx(0.44));

  std::map<bucket_key, std::size_t> symbols;
  for (std::size_t s = 0; s < 3; ++s) symbols[chosen[s].key] = s + 1;
  std::vector<std::size_t> counts(4);
  for (const float d : example) ++counts[symbols[key_of(d)]];
  CHECK(counts == std::vector<std::size_t>{5, 2, 1, 2});
}

TEST_CASE("lc/buckets: energy counts members") {
  const std::vector<float> delta = {1.0F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.7F, -0.25F};
  const auto buckets = buckets_of(delta);
  CHECK(promote(buckets, promotion::magnitude, 1)[0].key == 127);
  const auto chosen = promote(buckets, promotion::energy, 2);
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].key == 126);
  CHECK(chosen[0].value == 0.6F);
  CHECK(chosen[1].key == 127);
}

TEST_CASE("lc/buckets: zero, denormals, and what is no number") {
  const float least = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  const float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  bucket_table table;
  table.add(std::vector<float>{0.0F, -0.0F, least, 3 * least, -5 * least, most, most, infinity, -infinity, none});
  CHECK(table.exceptions() == 3);
  const auto buckets = table.buckets();
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].key == 0);
  CHECK(buckets[0].count == 2);
  CHECK(buckets[0].min == least);
  CHECK(midpoint_of(buckets[0]) == 2 * least);
  CHECK(midpoint_of(buckets[1]) == most);  // the sum of both ends is no float
  CHECK(buckets[2].key == 256);
  CHECK(buckets[2].max == -5 * least);
}

TEST_CASE("lc/buckets: symbols go by exponent, the positive one first") {
  std::vector<promoted> chosen = {{256 + 120, -1}, {119, 1}, {120, 1}, {256 + 119, -1}};
  sort_by_exponent(chosen);
  CHECK(chosen == std::vector<promoted>{{120, 1}, {256 + 120, -1}, {119, 1}, {256 + 119, -1}});
}

/// Deltas over zeros.
delta_view view_of(const std::vector<float>& values, const std::vector<float>& zeros) {
  return {dtype::f32, std::as_bytes(std::span(values)), std::as_bytes(std::span(zeros).first(values.size()))};
}

}  // namespace

TEST_CASE("lc/survey: the largest buckets are those of the full table, wherever the exponents lie") {
  std::mt19937 random(1);
  const std::vector<float> zeros(2'200'000);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t spread = 1 + static_cast<std::uint32_t>(random() % 200), negative = random() % 3 == 0 ? 0 : 256;
    std::vector<float> values(round == 7 ? 2'200'000 : random() % 80'000);
    std::uint32_t low = 0, gap = 1;
    for (auto& d : values) {
      if (&d == values.data() || random() % 20'000 == 0) {  // other exponents from here on
        low = static_cast<std::uint32_t>(random() % (255 - spread));
        gap = 1 + static_cast<std::uint32_t>(random() % 9);
      }
      const auto exponent = low + static_cast<std::uint32_t>(random() % spread) / gap * gap;
      const auto key = exponent | (random() % 2 == 0 ? 0 : negative);
      d = std::bit_cast<float>(key << 23 | static_cast<std::uint32_t>(random() % (1U << 23)));
      if (random() % 50 == 0) d = 0;
      if (round % 10 == 3 && random() % 5000 == 0) d = std::numeric_limits<float>::infinity();
    }
    if (round % 4 == 0) std::sort(values.begin(), values.end());  // windows move all the time
    const auto delta = view_of(values, zeros);
    const auto table = survey_all(delta, 1 + static_cast<unsigned>(round % 3));
    for (const std::size_t most : {3U, 7U})
      for (const unsigned threads : {1U, 3U}) {
        const auto found = survey_largest(delta, most, threads);
        CHECK(found.chosen == promote(table.buckets(), promotion::magnitude, most));
        CHECK(found.all_finite == (table.exceptions() == 0));
      }
  }
}

TEST_CASE("lc/survey: nothing, and nothing but zeros") {
  const std::vector<float> zeros(100);
  CHECK(survey_largest({}, 3, 1).chosen.empty());
  const delta_view same = view_of(zeros, zeros);
  CHECK(survey_largest(same, 7, 1).chosen.empty());
  CHECK(survey({}, {.priority = promotion::energy}, 7, 1).chosen.empty());
}

TEST_CASE("lc/quantize: a block has at most most_exceptions, in the last block too") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const std::size_t rest = 1000, count = block_elements + rest;
  const std::vector<float> tracked(count, 1.0F);
  const auto quantize = [&](std::size_t begin, std::size_t exceptions) {
    auto real = tracked;
    for (std::size_t i = 0; i < exceptions; ++i) real[begin + i] = infinite;
    const delta_view delta{dtype::f32, std::as_bytes(std::span(real)), std::as_bytes(std::span(tracked))};
    auto result = quantize_on_trial(delta, 2, make_symbols({}), 1);
    if (!result.too_many_exceptions) CHECK(result.exceptions[begin / block_elements].size() == exceptions);
    return result.too_many_exceptions;
  };
  CHECK(most_exceptions(rest) == 16);
  for (const auto& [begin, size] : {std::pair{std::size_t{0}, block_elements}, std::pair{block_elements, rest}}) {
    CHECK_FALSE(quantize(begin, most_exceptions(size)));
    CHECK(quantize(begin, most_exceptions(size) + 1));
  }
}
