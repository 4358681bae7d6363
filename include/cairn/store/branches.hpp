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

namespace cairn::detail {

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

}  // namespace cairn::detail
