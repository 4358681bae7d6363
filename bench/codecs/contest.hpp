// SPDX-License-Identifier: MIT
// Methods that compress the same numbers in turn, and what came out.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codecs/data_sets.hpp"
#include "codecs/method.hpp"
#include "common/clock.hpp"
#include "common/interleave.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"

namespace bench {

struct result {
  std::string method{};
  std::size_t bytes = 0, stored = 0;             ///< of all leaves, before and after
  std::vector<double> compress{}, decompress{};  ///< CPU seconds for all of them, one per repetition
  double rms_error = 0;                          ///< root of the mean square of the same, 0 without loss
  double max_error = 0;  ///< largest |decompressed - original|; without loss it is checked to be 0, bit for bit

  [[nodiscard]] double ratio() const { return static_cast<double>(bytes) / static_cast<double>(stored); }
  /// Percent.
  [[nodiscard]] double saved() const { return 100 - 100 / ratio(); }
  /// GB/s of what is compressed, for `compress` or `decompress`.
  [[nodiscard]] double rate(const std::vector<double>& seconds) const {
    return static_cast<double>(bytes) / 1e9 / median(seconds);
  }
};

/// Rate over rate, of the `series` (&result::compress or &result::decompress) of two results of the same contest; NaN
/// where there is none of either.
[[nodiscard]] inline double rate_ratio(const result* top, const result* bottom, std::vector<double> result::* series) {
  if (top == nullptr || bottom == nullptr) return median({});
  return median_ratio(bottom->*series, top->*series) * static_cast<double>(top->bytes) /
         static_cast<double>(bottom->bytes);
}

/// "3.8e-03"; "0" for none.
[[nodiscard]] inline std::string error_text(double error) {
  char text[32] = "0";
  if (error > 0) std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

/// The result of that name, or null.
[[nodiscard]] inline const result* find(std::span<const result> results, std::string_view method) {
  for (const auto& r : results)
    if (r.method == method) return &r;
  return nullptr;
}

struct patience {
  std::size_t repetitions = 7;
  std::chrono::duration<double> wait{};  ///< at most, for idle cores, before every repetition
};

/// CPU seconds of this thread. All methods have one thread and wait for nothing; wall-clock time would say the same on
/// an idle machine, and on a busy one how often another program got the core.
template <class Work>
[[nodiscard]] double cpu_seconds_of(Work&& work) {
  const double begin = thread_cpu_seconds();
  work();
  return thread_cpu_seconds() - begin;
}

/// Something that measures itself once per call.
struct contestant {
  result measured;
  std::function<void(result&)> run;
};

/// Runs all in turn. The first run of each, which takes new memory and fills caches, is not counted.
[[nodiscard]] std::vector<result> hold(std::vector<contestant> contestants, const patience& how);

/// Memory for compressed and decompressed leaves, all of it touched. Contestants share it, one after the other.
struct buffers {
  std::vector<std::vector<std::byte>> packed, unpacked;

  buffers(std::span<const leaf> leaves, std::span<const method> methods);
};

/// Compresses all leaves and gets them back. With `max_error` 0 every byte is compared; else the leaves are of type
/// F32, and no element may differ by more. The leaves and the buffers outlive the contestant.
[[nodiscard]] contestant contestant_of(const method& m, std::span<const leaf> leaves, buffers& memory,
                                       double max_error = 0);

/// All methods on a data set. Those that do not use references have its differences to compress, and are not charged
/// for making them.
[[nodiscard]] std::vector<result> compare_lossless(const data_set& data, std::span<const method> methods,
                                                   const patience& how);

/// How far decompressed elements are from the original ones.
struct deviation {
  double largest = 0, squares = 0;  ///< largest |a - b|, sum of (a - b)^2
  std::size_t elements = 0;

  void add(std::span<const float> a, std::span<const float> b);
  [[nodiscard]] double rms() const { return std::sqrt(squares / static_cast<double>(elements)); }
};

/// The same methods over several data sets as one: bytes and seconds added.
[[nodiscard]] std::vector<result> together(std::span<const std::vector<result>> parts);

}  // namespace bench
