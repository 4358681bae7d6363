// SPDX-License-Identifier: MIT
// What is recorded of an encoded piece (codec, dtype, shape, the error of a lossy codec), and the report of a save.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1 {

/// The error of a lossy codec: decoded elements against the real ones.
struct loss {
  double max_error = 0;    ///< largest |decoded - real|, over the elements that are finite
  double relative_l2 = 0;  ///< |decoded - real| / |real| in the L2 norm; infinite where real is 0 and decoded is not
  /// |decoded - real| / |real - parent| in the L2 norm, where parent is what a load of the parent checkpoint restores:
  /// at 1 the delta is no better than none. nullopt: not known.
  std::optional<double> delta_l2{};

  friend bool operator==(const loss&, const loss&) = default;
};

/// What lossy checkpoints have changed in an array: it was restored from them, and trained on.
struct restored_loss {
  loss sum{};                  ///< of the losses at each of these restores: a bound of their common effect
  std::uint64_t restores = 0;  ///< how often

  friend bool operator==(const restored_loss&, const restored_loss&) = default;
};

namespace detail {

/// By the path of an array.
using restored_losses = std::map<std::string, restored_loss, std::less<>>;

/// The larger error of each kind.
[[nodiscard]] loss worse(const loss& a, const loss& b) noexcept;

/// What a file records of an encoded tensor, whose payload is stored as U8.
struct encoding_info {
  std::string codec;           ///< by name: "lossless", "lc2", a user's own
  dtype type{};                ///< of the elements
  extents shape;               ///< of the elements
  bool relative = false;       ///< decoding starts from the elements of the parent checkpoint
  std::optional<loss> lost{};  ///< of a lossy codec

  friend bool operator==(const encoding_info&, const encoding_info&) = default;
};

}  // namespace detail

/// What a save did.
struct save_report {
  /// Out of line: every unit of a trainer would compile them.
  save_report();
  save_report(const save_report&);
  save_report(save_report&&) noexcept;
  save_report& operator=(const save_report&);
  save_report& operator=(save_report&&) noexcept;
  ~save_report();

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
