// SPDX-License-Identifier: MIT
// Which checkpoints of a place the newest run has in its history, where several runs have branched off one another (when_older::branch).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

/// The branch with the largest number. `names` are in the order of checkpoint_before.
[[nodiscard]] inline run_branch newest_branch(const std::vector<std::string>& names) {
  return names.empty() ? run_branch() : parse_branch(names.back());
}

/// The history of the newest branch, in ascending order: its checkpoints, those of the branch that it continues from up to that step, and so on
/// as long as a branch has a checkpoint left. Names without a step come first and are of no branch. `names` are in the order of
/// checkpoint_before.
[[nodiscard]] inline std::vector<std::string> history_of(std::vector<std::string> names) {
  const auto branch = newest_branch(names);
  std::vector<std::string> history;
  auto number = branch.number;
  auto from = branch.from;
  auto last_step = std::numeric_limits<std::uint64_t>::max();
  std::reverse(names.begin(), names.end());
  for (auto& name : names) {
    if (const auto step = parse_checkpoint_name(name)) {
      const auto branch_of_name = parse_branch(name);
      if (branch_of_name.number < number && from) {
        number = from->branch;
        last_step = std::min(last_step, from->step);
        from.reset();  // its names say where it continues from
      }
      if (branch_of_name.number != number) continue;
      from = branch_of_name.from;
      if (*step > last_step) continue;
    }
    history.push_back(std::move(name));
  }
  std::reverse(history.begin(), history.end());
  return history;
}

/// Those of `names` that have a step.
[[nodiscard]] inline std::vector<std::string> named_by_step(std::vector<std::string> names) {
  std::erase_if(names, [](const auto& name) { return !parse_checkpoint_name(name); });
  return names;
}

/// Whether removing the checkpoints later than `last_step`, or all, would leave nothing of the newest branch.
[[nodiscard]] inline bool would_end_branch(const std::vector<std::string>& names,
                                           std::optional<std::uint64_t> last_step) {
  const auto number = newest_branch(names).number;
  return number != 0 && std::none_of(names.begin(), names.end(), [&](const auto& name) {
           return parse_branch(name).number == number && last_step && *parse_checkpoint_name(name) <= *last_step;
         });
}

/// Whether `at` is the last checkpoint of a branch between the oldest and the newest one of the history: without it, its name would no longer
/// say where that branch continues from.
[[nodiscard]] inline bool is_link(const std::vector<std::string>& history,
                                  std::vector<std::string>::const_iterator at) {
  const auto number = parse_branch(*at).number;
  return at + 1 != history.end() && parse_branch(at[1]).number != number &&
         parse_branch(history.front()).number != number;
}

}  // namespace cairn::inline v0_1::detail
