// SPDX-License-Identifier: MIT
// The report of a save.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cairn/core/encoding.hpp"

namespace cairn::inline v0_1 {

/// What a save did.
struct save_report {
  std::string path{};             ///< of the checkpoint
  std::uint64_t leaves = 0;       ///< arrays written
  std::uint64_t bytes = 0;        ///< of all files
  double seconds = 0;             ///< of encoding, writing and publishing, with the waits for `max_bytes_per_second`
  std::uint64_t state_bytes = 0;  ///< of the arrays, before encoding
  bool is_delta = false;          ///< built on another checkpoint
  std::string parent{};           ///< the name of that checkpoint
  double encode_seconds = 0;      ///< of `seconds`
  double write_seconds = 0;       ///< of `seconds`: writing, flushing, publishing
  /// Path -> what a lossy codec lost there; the largest of its pieces where the leaf is cut.
  std::map<std::string, loss> lost{};
  /// Patterns of codec rules that encoded no leaf: misspelled, or hidden by earlier rules.
  std::vector<std::string> unmatched_rules{};
};

}  // namespace cairn::inline v0_1
