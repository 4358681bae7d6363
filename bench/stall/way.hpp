// SPDX-License-Identifier: MIT
// One way to save while training; Cairn and every peer are such ways, each in a file of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/clock.hpp"
#include "save_load/state.hpp"

namespace bench {

/// What a save came to.
struct saved {
  double seconds = 0;  ///< from its beginning until it was durable
  std::uint64_t bytes = 0;
};

/// In steps. Fewer than that pass while a save is in flight.
inline constexpr std::uint64_t save_interval = 64;

struct way {
  /// Called after every step; saves at multiples of `save_interval`. The trainer goes on when it returns.
  std::function<void(const training_state& state, std::uint64_t step)> step{};
  /// Called before the trainer writes to the state again, and returns when it may; null where it may at once.
  std::function<void()> before_write{};
  /// Whether the last save is durable. Does not wait.
  std::function<bool()> is_done{};
  /// Waits until the last save is durable.
  std::function<saved()> finish{};
};

/// All of them save into `directory`, which exists and is empty. `encoded`: without loss, Cairn's default; else raw.
[[nodiscard]] way cairn_asynchronous(const std::string& directory, bool encoded);
[[nodiscard]] way cairn_blocking(const std::string& directory, bool encoded);
/// The child of a fork writes and syncs; the parent goes on and pays for a copy of every page that it writes to.
[[nodiscard]] way fork_and_write(const std::string& directory);
[[nodiscard]] way libtorch_blocking(const std::string& directory);
/// torch::save in a thread, from the state itself: the trainer waits for it before it writes. The sync runs in the
/// background.
[[nodiscard]] way libtorch_joined(const std::string& directory);
/// clone() of all tensors, then torch::save in a thread.
[[nodiscard]] way libtorch_cloned(const std::string& directory);

/// How a way is called, and how it begins.
struct known_way {
  std::string_view key;  ///< its name in JSON and on the command line of a child
  std::string_view name;
  way (*make)(const std::string& directory);
  bool goes_on = false;  ///< stops the trainer after the call too, in page faults: its stall is all that it costs
};

/// All ways that this program was built with, Cairn's first.
[[nodiscard]] std::span<const known_way> known_ways();

}  // namespace bench
