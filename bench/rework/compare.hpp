// SPDX-License-Identifier: MIT
// The comparison of all methods on one model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/report.hpp"
#include "rework/experiment.hpp"

namespace bench::rework {

/// The undisturbed runs of a model, by seed.
using undisturbed_runs = std::map<std::uint64_t, undisturbed_run>;

[[nodiscard]] undisturbed_runs train_all(const models::setting& model, std::size_t seeds);

/// All settings of Cairn's codecs, SCAR, TOPN and full checkpoints, at 5 % and 10 % of fp32, and at what LC takes. Prints a table, and adds the
/// figures of the model. Returns the highest fp32 bytes over stored bytes of a checkpoint, as a mean over the run.
double compare_methods(const models::setting& model, models::part what, std::size_t failures,
                       const undisturbed_runs& runs, report& numbers);

/// lc<2> and lc<3> against TOPN with the same bytes. Prints a table, and returns whether LC costs no more rework.
[[nodiscard]] bool compare_shortly(const models::setting& model, std::size_t failures, const undisturbed_runs& runs,
                                   report& numbers);

}  // namespace bench::rework
