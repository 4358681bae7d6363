// SPDX-License-Identifier: MIT
// The input of one save: what is saved, how, and the functions that are called during the save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cairn/core/checkpoint_info.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/state/base.hpp"

namespace cairn::inline v0_1::detail {

/// What a running save calls. Each may be empty. What they throw cancels the save.
struct save_hooks {
  /// Before each piece and before publishing; from any thread.
  std::function<void()> check{};
  /// After each block; from any thread.
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress{};
  /// A delta is due, but its parent is gone or cannot be read: the checkpoint becomes whole. Before any encoding.
  std::function<void(const std::string& why)> anchored{};
  /// After the last shard is encoded.
  std::function<void(std::uint64_t bytes, double seconds)> encoded{};
  /// When all shards are written, before publishing.
  std::function<void(std::uint64_t bytes, double seconds)> written{};
};

struct save_job {
  std::string name;  ///< of the checkpoint in its store
  description what;
  /// In a group of ranks, `what.leaves` from this number on are those that this rank alone has.
  std::size_t common_leaves = 0;
  std::uint64_t common_hash = 0;  ///< of what all ranks must have in common: paths, types, shapes and structure
  structure own_structure{};      ///< the part of `what.structure` that this rank alone has
  std::vector<std::uint64_t>
      sample{};  ///< hashes of pieces that all ranks should have in common (run/replica_check.hpp)
  checkpoint_info info{};
  restored_losses restored{};  ///< what earlier restores have lost
  codec_rules codecs{};
  chain_options chain{};
  unsigned threads = 0;  ///< see save_options
  save_hooks hooks{};

  /// Bytes of all leaves, before encoding.
  [[nodiscard]] std::uint64_t state_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& each : what.leaves) bytes += each.bytes();
    return bytes;
  }
};

}  // namespace cairn::inline v0_1::detail
