// SPDX-License-Identifier: MIT
// States of many small objects, saved and loaded by Cairn and by cereal; and of many random engines.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace bench {

struct small_result {
  std::string state;
  double save_over_cereal = 0, load_over_cereal = 0;  ///< CPU seconds: medians of the ratios of neighbours
  double bytes_over_cereal = 0;                       ///< of the files
  double save_seconds = 0, load_seconds = 0;          ///< CPU seconds of Cairn
};

/// 30,000 records of three vectors, 100,000 vectors of 20 floats, 100,000 words with a vector each. The files are not
/// durable and not encoded; a load begins with an empty object.
[[nodiscard]] std::vector<small_result> measure_small(const std::filesystem::path& dir, std::size_t reps);

struct engines_result {
  double save_over_words = 0, load_over_words = 0;  ///< CPU seconds: medians of the ratios of neighbours
  double save_seconds = 0, load_seconds = 0;        ///< CPU seconds of the engines
};

/// 4,096 std::mt19937 in a vector, against a vector of as many std::uint64_t as they have words; else as above.
[[nodiscard]] engines_result measure_engines(const std::filesystem::path& dir, std::size_t reps);

}  // namespace bench
