// SPDX-License-Identifier: MIT
// What the tests of kernels on two vectors of floats share.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"

namespace float_pairs {

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

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

inline bool is_zero(std::uint32_t bits) { return bits << 1 == 0; }

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

inline bool same(const float* a, const float* b, std::size_t n) {
  return n == 0 || std::memcmp(a, b, n * sizeof *a) == 0;
}

}  // namespace float_pairs
