// SPDX-License-Identifier: MIT
// Turns the newest deltas of a chain into one, or into a whole checkpoint, that restores the same bits and needs fewer files.
// Programs whose checkpointers merge (chain_options::merge_every) include it.
#pragma once

#include <memory>
#include <string>

#include "cairn/core/config.hpp"
#include "cairn/chain/merge_hook.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {

/// Replaces checkpoint `name` by one that restores the same values, bit for bit, and is built on the checkpoint that the oldest of
/// the merged deltas was built on, or on none. The others stay as they are: retention may remove what nothing needs any more. The
/// sum of two deltas is not their effect, since float addition is not associative: quantized deltas are kept as a sequence of steps
/// in one payload; XORs are combined; where the two meet, or a codec is not a mergeable_codec, the leaf is stored whole and without loss.
/// A crash at any moment leaves the old checkpoint or the new one. Errors: those of loading and saving; the old one then stays.
merge_report merge_checkpoints(any_store& store, const std::string& name, const merge_options& options = {});

namespace detail {

[[nodiscard]] std::unique_ptr<joint_merge> open_joint_merge(any_store& store, const joint_merge_job& job);

inline constexpr merge_functions merging{&merge_checkpoints, &open_joint_merge};
inline const bool merge_is_known = (known_merge = &merging, true);

}  // namespace detail
}  // namespace cairn::inline v0_1
