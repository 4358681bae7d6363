// SPDX-License-Identifier: MIT
// Random orders that are the same on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace cairn::inline v0_1::detail {

inline constexpr std::uint64_t mix_increment = 0x9e3779b97f4a7c15;

/// The number that SplitMix64 gives in state `z` (Steele, Lea, Flood 2014); its next state is z + mix_increment.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z += mix_increment;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

/// A uniform number below `count` > 0. std::uniform_int_distribution differs between standard libraries.
[[nodiscard]] inline std::uint64_t draw(std::mt19937_64& random, std::uint64_t count) {
  constexpr std::uint64_t most = (std::numeric_limits<std::uint64_t>::max)();
  const std::uint64_t fair = most - most % count;
  std::uint64_t number = random();
  while (number >= fair) number = random();
  return number % count;
}

/// The numbers below `items` in the order of one epoch, which does not depend on other epochs.
[[nodiscard]] inline std::vector<std::uint64_t> shuffled(std::uint64_t items, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::uint64_t> order(items);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::mt19937_64 random(mix(mix(seed) + epoch));
  for (std::uint64_t left = items; left > 1; --left) std::swap(order[left - 1], order[draw(random, left)]);
  return order;
}

}  // namespace cairn::inline v0_1::detail
