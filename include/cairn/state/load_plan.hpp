// SPDX-License-Identifier: MIT
// Checks that a checkpoint fits a state, then gives the state the checkpoint's structure. The caller reads the arrays.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "cairn/state/any_state.hpp"
#include "cairn/state/applier.hpp"
#include "cairn/state/checker.hpp"

namespace cairn::inline v0_1::detail {

/// The constructor compares everything and changes nothing. `apply` changes sizes, keys and pointees, and lists where to read
/// the arrays.
class load_plan {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have, `errc::invalid` for an
  /// exception of a user's code. `from` and `options` must outlive this object.
  load_plan(any_mutable_state state, const catalog& from, const match_options& options, rank_info here = {});

  [[nodiscard]] match_report& report() noexcept { return checker_->report(); }
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return checker_->regions(); }

  /// Gives the state the checkpoint's structure. The caller then prepares and runs `growths()`, reads `targets()`, and calls `finish`.
  void apply();

  /// Copies what was read to the devices where it belongs.
  void finish() { applier_->finish(); }

  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return applier_->growths(); }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return applier_->targets(); }
  /// What the check has read already.
  [[nodiscard]] fetched_leaves& fetched() noexcept { return progress_->fetched; }

 private:
  void walk(walker& by);
  /// Rejects parts of the state that are in memory which the load frees or moves.
  void check_overlaps();

  any_mutable_state state_;
  walk_position at_;
  std::optional<load_progress> progress_;
  std::optional<checker> checker_;
  std::optional<applier> applier_;
};

}  // namespace cairn::inline v0_1::detail
