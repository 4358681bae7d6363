// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/code.hpp"

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace cairn::detail::huffman;

namespace {

using weights = std::vector<std::uint64_t>;

weights random_weights(std::mt19937_64& random, std::size_t n) {
  weights sorted(n);
  const unsigned width = static_cast<unsigned>(random() % 30);
  for (auto& weight : sorted) weight = (random() >> (63 - random() % (width + 1))) + 1;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::uint64_t cost(const weights& of, const weights& depths) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < of.size(); ++i) sum += of[i] * depths[i];
  return sum;
}

/// The least cost of a tree not deeper than `limit`, by merging packages (Larmore and Hirschberg, 1990).
std::uint64_t least_cost(const weights& of, unsigned limit) {
  weights level;
  for (unsigned d = 0; d < limit; ++d) {
    weights next = of;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
    std::sort(next.begin(), next.end());
    level = next;
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 2 * of.size() - 2; ++i) sum += level[i];
  return sum;
}

/// Kraft's sum in units of 2^-64; 0 stands for 1.
std::uint64_t kraft(const weights& depths) {
  std::uint64_t sum = 0;
  for (const auto depth : depths) sum += std::uint64_t{1} << (64 - depth);
  return sum;
}

}  // namespace

TEST_CASE("symbols are sorted by count, and by value where counts are equal") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    byte_counts counts{};
    for (auto& count : counts)
      if (random() % 3 != 0) count = random() >> (random() % 64);
    if (round == 0) counts.fill(0);
    if (round == 1) counts.fill(7);
    std::vector<std::pair<std::uint64_t, std::size_t>> expected;
    for (std::size_t s = 0; s < counts.size(); ++s)
      if (counts[s] != 0) expected.emplace_back(counts[s], s);
    std::sort(expected.begin(), expected.end());
    const auto sorted = sort_by_count(counts);
    REQUIRE(sorted.size == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(sorted.counts[i] == expected[i].first);
      REQUIRE(sorted.symbols[i] == expected[i].second);
    }
  }
}

TEST_CASE("depths are those of a best tree") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto of = random_weights(random, random() % (round % 20 == 0 ? 255 : 20) + 2);
    auto depths = of;
    find_depths(depths);
    REQUIRE(kraft(depths) == 0);
    REQUIRE(std::is_sorted(depths.rbegin(), depths.rend()));
    REQUIRE(cost(of, depths) == least_cost(of, 40));
  }
}

TEST_CASE("limited depths fill the tree, and cost next to nothing above the least") {
  std::mt19937_64 random(3);
  double worst = 0, sum = 0;
  int limited = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto of = random_weights(random, random() % (round % 20 == 0 ? 255 : 30) + 2);
    const auto least = static_cast<unsigned>(std::bit_width(of.size() - 1));
    const unsigned limit = least + static_cast<unsigned>(random() % (13 - least));
    auto depths = of;
    find_depths(depths);
    const auto before = depths;
    limit_depths(depths, of, limit);
    REQUIRE(kraft(depths) == 0);
    REQUIRE(depths[0] <= limit);
    REQUIRE(std::is_sorted(depths.rbegin(), depths.rend()));
    if (before[0] <= limit) {
      REQUIRE(depths == before);
      continue;
    }
    const double ratio = static_cast<double>(cost(of, depths)) / static_cast<double>(least_cost(of, limit));
    REQUIRE(ratio >= 1);
    worst = std::max(worst, ratio);
    sum += ratio;
    ++limited;
  }
  CAPTURE(worst, sum / limited);
  CHECK(limited > 300);
  CHECK(worst < 1.15);
  CHECK(sum / limited < 1.01);
}
