// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/survey.hpp"

#include <cstring>
#include <random>

#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail::lc;

namespace {

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
