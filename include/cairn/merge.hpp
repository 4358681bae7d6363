// SPDX-License-Identifier: MIT
// Turns the newest deltas of a chain into one, or into a whole checkpoint, that restores the same bits and needs fewer
// files. Programs whose checkpointers merge (chain_options::merge) include it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cairn/chain/options.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {

/// Publishes, as checkpoint `name`, one that restores the same values, bit for bit, and is built on the checkpoint that
/// the oldest of the merged deltas was built on, or on none. The others stay as they are: retention may remove what
/// nothing needs any more. The sum of two deltas is not their effect, since float addition is not associative:
/// quantized deltas are kept as a sequence of steps in one payload; XORs are combined; where the two meet, or a codec
/// is not a mergeable_codec, the leaf is stored whole and without loss. A crash at any moment leaves the old checkpoint
/// or the new one. Errors: those of loading and saving, errc::busy
/// while a checkpointer saves there; the old one then stays.
merge_report merge_checkpoints(any_store& store, const std::string& name, const merge_options& options = {});

namespace detail {

[[nodiscard]] std::unique_ptr<merge_source> open_merge(const any_store& store, const merge_job& job);

}  // namespace detail

/// When a checkpointer merges the deltas of its chain: `.chain = {.merge = cairn::merging{.every = 8}}`.
struct merging {
  std::size_t every = 8;  ///< after this many deltas; at least 2
  bool to_whole = false;  ///< into a whole checkpoint instead of one delta

  /// The rule, with the function that merges.
  operator detail::merge_rule() const { return {every, to_whole, &detail::open_merge}; }  // NOLINT: is the rule
};

}  // namespace cairn::inline v0_1
