// SPDX-License-Identifier: MIT
// What the loss of single buckets of a delta costs, what several restarts in one run cost, and which step of LC saves
// how many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codecs/breakdown.hpp"
#include "common/report.hpp"
#include "rework/experiment.hpp"

namespace bench::rework {

/// Drops one bucket (sign, exponent) at a time from the delta of one period in the middle of the run, and prints the
/// change of the loss.
void probe_buckets(const models::setting& model, std::uint64_t seed, const undisturbed_run& run, report& numbers);

/// Trains the run of each seed again with 1 to 10 total failures, each followed by a restore of the newest checkpoint,
/// the whole state by lc<3> with default options and by lc<2> with a bound. Compares the accuracy at the end with the
/// `undisturbed` run, or of a GPT the loss.
void probe_restarts(const models::setting& model, const std::map<std::uint64_t, models::score>& undisturbed,
                    const std::vector<std::size_t>& restarts, report& numbers);

/// The share of the bytes that each step of LC saves, in the checkpoints of this run of `model`, beside the published
/// shares.
[[nodiscard]] saved_percent probe_steps(const std::string& model, const undisturbed_run& run, report& numbers);

}  // namespace bench::rework
