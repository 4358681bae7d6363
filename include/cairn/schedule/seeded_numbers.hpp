// Random numbers by their index: the same for everyone who asks with the same seed, in whatever order.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace cairn::schedule {

/// Each number depends on the seed and its index alone, the same on all machines (splitmix64: Steele, Lea, Flood 2014). O(1).
class seeded_numbers {
 public:
  explicit seeded_numbers(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const noexcept {
    auto z = seed_ + (index + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  /// Other numbers, as many.
  [[nodiscard]] seeded_numbers stream(std::uint64_t index) const noexcept { return seeded_numbers(~bits(index)); }

  /// Between 0 and 1, neither of them.
  [[nodiscard]] double uniform(std::uint64_t index) const noexcept {
    return (static_cast<double>(bits(index) >> 12U) + 0.5) * 0x1p-52;
  }
  /// Of mean 1; positive.
  [[nodiscard]] double exponential(std::uint64_t index) const noexcept { return -std::log(uniform(index)); }
  /// Of mean 0 and deviation 1 (Box and Muller 1958).
  [[nodiscard]] double normal(std::uint64_t index) const noexcept {
    return std::sqrt(2 * exponential(2 * index)) * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  }

 private:
  std::uint64_t seed_;
};

}  // namespace cairn::schedule
