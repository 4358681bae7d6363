// SPDX-License-Identifier: MIT
// Which checkpoints to remove: those that no rule keeps. A pure function, which removes nothing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws

namespace cairn::inline v0_1 {

/// Keep the `count` checkpoints with the best `metric`; all of them as long as none has that metric.
struct keep_best_rule {
  std::string metric = "loss";  ///< "loss", or a name in `observation::metrics`
  std::size_t count = 1;        ///< checkpoints to keep, at least 1
  bool lower_is_better = true;  ///< false: the largest value is the best
};

/// A checkpoint that no rule keeps.
struct removal {
  std::string name;    ///< of the checkpoint in its store
  std::string reason;  ///< one sentence
};

namespace detail {

/// A published checkpoint, as retention sees it.
struct retained_entry {
  std::string name{};
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  bool pinned = false;               ///< never removed
  std::vector<std::string> needs{};  ///< names of the checkpoints that this one is built on
  bool is_usable = true;             ///< false: no rule applies; it is kept together with the checkpoints it needs
};

/// What to keep; a checkpoint stays if any rule wants it. Without rules everything stays. A rule of 0 is errc::invalid.
struct retention_rules {
  std::optional<std::size_t> keep_last;  ///< the newest ones
  /// Entries without the metric, or where it is NaN or infinite, never count as best; all stay if none has it.
  std::optional<keep_best_rule> keep_best;
  std::optional<std::uint64_t> keep_every;  ///< the first at or after each multiple of this

  [[nodiscard]] bool any() const noexcept { return keep_last || keep_best || keep_every; }
};

/// Throws errc::invalid for a rule of 0.
void check_rules(const retention_rules& rules);

/// Whether the rule can compare anything: a usable entry has a number for its metric.
[[nodiscard]] bool has_metric(std::span<const retained_entry> entries, const keep_best_rule& rule);

/// The checkpoints that no rule keeps, newest first: when they are removed in this order, none is ever without what it
/// is built on. The newest checkpoint is never among them, nor one that is pinned, nor one that a kept one needs,
/// directly or not. While the newest loss is not finite, the checkpoint that has it and the newest one whose loss is
/// finite stay, too. O(n log n).
[[nodiscard]] std::vector<removal> plan_retention(std::span<const retained_entry> entries,
                                                  const retention_rules& rules);

}  // namespace detail
}  // namespace cairn::inline v0_1
