// SPDX-License-Identifier: MIT
// The options of loading, of chains of checkpoints and of merging them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/state/convert.hpp"
#include "cairn/encode/choice.hpp"

namespace cairn::inline v0_1 {

/// How the ranks of a group read the arrays that all of them load.
enum class read_sharing {
  measured,  ///< a sample in each way, and the rest in the way that took less time; each rank reads all below 256 MiB
  never,     ///< each rank reads all
  always     ///< each rank reads a part, and sends it to the others
};

/// How to load.
struct load_options {
  /// Paths that only one side has are errors; else they are reported, and the state keeps its value there.
  bool strict = true;
  /// Gives the path in the checkpoint for a path in the state. Not set: the same path.
  std::function<std::string(std::string_view path)> rename{};
  /// True for the leaves to load, by their path in the checkpoint. Not set: all.
  std::function<bool(std::string_view path)> filter{};
  /// Which conversions between dtypes are allowed.
  conversion convert = conversion::none;
  /// What to do with an array of numbers that is not empty and has another shape in the checkpoint, by its path there.
  /// Not set: reshaping::none. An empty array, a list of objects, a text, and a container that is no array get the size
  /// of the checkpoint anyway.
  std::function<reshaping(std::string_view path)> reshape{};
  /// Compare the checksums of all that is read. Those of converted and copied leaves are compared in any case.
  bool verify = true;
  /// Read all twice: compare checksums before the state changes. If false, a damaged checkpoint is found when part of
  /// it is loaded: a restore then loads an older one over it. If there is no older one, or in a load, the error has
  /// `state_changed()`. nullopt: `load` reads twice, `checkpointer::restore` once, but twice with `rename`.
  std::optional<bool> verify_first{};
  unsigned threads = 0;  ///< for reading and decoding
  codec_rules codecs{};  ///< the user's own; Cairn's need no rule
  /// The step to load; nullopt: the newest checkpoint that can be restored. Only for checkpointer::restore, and loads
  /// from a store or a directory of checkpoints; else errc::invalid.
  std::optional<std::uint64_t> step{};
  /// Only for a checkpointer with a group; else nothing is shared.
  read_sharing sharing = read_sharing::measured;
};

class any_store;

namespace detail {

class merge_source;
struct merge_job;

/// See `merging`. It carries the function, so that programs that do not merge do not link it.
struct merge_rule {
  std::size_t every = 0;
  bool to_whole = false;
  /// The store must outlive the result.
  std::unique_ptr<merge_source> (*open)(const any_store& store, const merge_job& job) = nullptr;
};

}  // namespace detail

/// How often a checkpoint is whole, and when deltas are merged.
struct chain_options {
  /// Every n-th checkpoint is whole and lossless, an anchor; at least 1, which makes all whole. nullopt: whole only if
  /// a delta is not possible: there is no parent of a smaller step, a checkpoint that the delta would need has gone or
  /// cannot be read, or the policy asks for a whole or raw save.
  std::optional<std::size_t> anchor_every = 10;
  /// When deltas are merged into one that restores the same bits: cairn::merging, in <cairn/merge.hpp>. nullopt: never.
  /// Without `anchor_every`, `merging::to_whole` has to be set: else the chain would grow without bound.
  std::optional<detail::merge_rule> merge{};
};

/// How to merge the newest deltas of a chain.
struct merge_options {
  /// The newest n deltas, the given one included. nullopt: all of them, into a whole checkpoint.
  std::optional<std::size_t> deltas{};
  unsigned threads = 0;  ///< for decoding, encoding and writing
  codec_rules codecs{};  ///< a user's own codecs
  /// Bytes of elements that are merged in memory at a time, but at least one piece of a leaf: the rest goes to further
  /// shards, one after another. nullopt, or more: half of the memory that is left. Ignored in a group.
  std::optional<std::uint64_t> max_bytes{};
  std::function<void()> check{};  ///< called often, from any thread; what it throws cancels the merge
  /// Called for each written block, from any thread, with the bytes so far and an estimate of all. It may wait, to
  /// limit the rate; what it throws cancels the merge.
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress{};
};

}  // namespace cairn::inline v0_1
