// SPDX-License-Identifier: MIT
// The buckets of a delta, their values, and which of them are promoted to symbols.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/encode/lc/options.hpp"

namespace cairn::inline v0_1::detail::lc {

/// Sign << 8 | biased exponent, the upper 9 bits of a float: +1.5 has key 127, -1.5 has key 256 + 127.
using bucket_key = std::uint32_t;
inline constexpr std::size_t bucket_keys = 512;

/// The key of a value that is not zero.
[[nodiscard]] inline bucket_key key_of(float value) noexcept { return std::bit_cast<std::uint32_t>(value) >> 23; }

/// The elements of a delta, other than zero, of one sign and binary exponent.
struct bucket {
  bucket_key key = 0;
  std::uint64_t count = 0;  ///< 0: not counted
  float min = 0, max = 0;   ///< of the members
};

/// The value that stands for the members, as published. Computed in double, so that nothing overflows; rounded once.
[[nodiscard]] inline float midpoint_of(const bucket& b) noexcept {
  return static_cast<float>((static_cast<double>(b.max) + static_cast<double>(b.min)) / 2);
}

/// Statistics of all buckets of a delta. They are integers, so the order of elements does not matter.
class bucket_table {
 public:
  /// Zeros are in no bucket. Elements that are not finite are counted as exceptions.
  void add(std::span<const float> delta) noexcept {
    for (const float d : delta) {
      const auto bits = std::bit_cast<std::uint32_t>(d);
      cell& c = cells_[bits >> 23];
      const std::uint32_t mantissa = bits & mantissa_mask;
      // Zeros have the key of the smallest denormals.
      const bool zero = bits << 1 == 0;
      c.count += !zero;
      c.least = std::min(c.least, zero ? mantissa_mask : mantissa);
      c.greatest = std::max(c.greatest, mantissa);
    }
  }

  void add(const bucket_table& more) noexcept {
    for (std::size_t k = 0; k < bucket_keys; ++k) {
      cells_[k].count += more.cells_[k].count;
      cells_[k].least = std::min(cells_[k].least, more.cells_[k].least);
      cells_[k].greatest = std::max(cells_[k].greatest, more.cells_[k].greatest);
    }
  }

  /// Elements that are not finite.
  [[nodiscard]] std::uint64_t exceptions() const noexcept { return cells_[255].count + cells_[511].count; }

  /// The buckets that have members, by key.
  [[nodiscard]] std::vector<bucket> buckets() const {
    std::vector<bucket> found;
    for (bucket_key key = 0; key < bucket_keys; ++key) {
      const cell& c = cells_[key];
      if (c.count == 0 || key % 256 == 255) continue;
      const bool negative = key >= 256;
      const auto end = [&](std::uint32_t mantissa) { return std::bit_cast<float>(key << 23 | mantissa); };
      found.push_back({key, c.count, end(negative ? c.greatest : c.least), end(negative ? c.least : c.greatest)});
    }
    return found;
  }

 private:
  static constexpr std::uint32_t mantissa_mask = 0x7F'FFFF;
  struct cell {
    std::uint64_t count = 0;
    std::uint32_t least = mantissa_mask, greatest = 0;
  };
  std::array<cell, bucket_keys> cells_{};
};

/// A bucket with a symbol.
struct promoted {
  bucket_key key = 0;
  float value = 0;

  friend bool operator==(const promoted&, const promoted&) = default;
};

/// The `most` buckets of highest priority, in this order; of equal ones the positive first. The result for a smaller
/// `most` is a prefix of the result for a larger one.
[[nodiscard]] inline std::vector<promoted> promote(std::span<const bucket> buckets, promotion priority,
                                                   std::size_t most) {
  struct candidate {
    promoted chosen;
    double weight;
  };
  std::vector<candidate> line;
  for (const auto& b : buckets) {
    const float value = midpoint_of(b);
    const double size = std::abs(static_cast<double>(value));
    line.push_back(
        {{b.key, value}, priority == promotion::magnitude ? size : size * size * static_cast<double>(b.count)});
  }
  std::sort(line.begin(), line.end(), [](const auto& a, const auto& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.chosen.key < b.chosen.key;
  });
  std::vector<promoted> first;
  for (std::size_t i = 0; i < std::min(most, line.size()); ++i) first.push_back(line[i].chosen);
  return first;
}

/// The order in which buckets get the symbols 1, 2, ...: by exponent, because the order by priority varies between
/// checkpoints, which would change the frequencies of symbols and so require new codes.
inline void sort_by_exponent(std::vector<promoted>& chosen) {
  std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
    return a.key % 256 != b.key % 256 ? a.key % 256 > b.key % 256 : a.key < b.key;
  });
}

}  // namespace cairn::inline v0_1::detail::lc
