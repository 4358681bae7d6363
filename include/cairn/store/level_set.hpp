// SPDX-License-Identifier: MIT
// What a store of several places (cairn::levels) gives to a checkpointer. A level is a place with its options; both
// are numbered from 0, the nearest.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/core/policy_memory.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::detail {

/// The key in the notes of a checkpoint of several places: when the run began that saved it. See level_set::began.
inline constexpr std::string_view run_began = "run_began";

/// When the run began, by the notes of a checkpoint; nothing: they do not say.
[[nodiscard]] inline std::optional<double> began_in(const policy_memory& notes) {
  const auto at = notes.find(std::string(run_began));
  const bool is_known = at != notes.end() && at->second.size() == 1 && is_finite(at->second[0]);
  return is_known ? std::optional(at->second[0]) : std::nullopt;
}

/// For a run that begins now: later than `latest`, whatever the clock says.
[[nodiscard]] inline double begin_after(double latest) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return std::max(now, std::nextafter(latest, infinite()));
}

/// The copies of one run to all places but the first, which rank 0 makes. Destroyed, it cancels them. Thread-safe.
class level_copies {
 public:
  virtual ~level_copies() = default;
  /// A checkpoint has been published at the first place.
  virtual void published(const std::string& name) = 0;
  /// The checkpoints that are being copied, which the first place keeps as long.
  [[nodiscard]] virtual std::set<std::string> copying() const = 0;
  /// Copies the newest checkpoint to all places that do not have it, at once and without limit, and waits for that for
  /// at most `seconds`: returns whether all have it. Throws what fails meanwhile.
  [[nodiscard]] virtual bool complete(double seconds) = 0;
  /// Waits until no copy is being made or due, for at most `seconds`; returns whether that is so.
  [[nodiscard]] virtual bool finish(double seconds) = 0;
  [[nodiscard]] virtual std::vector<level_stats> stats() const = 0;

  // For the training thread: what the periods of copies are chosen by.
  /// The trainer has made a step, in that time. `is_saving`: while a save ran.
  virtual void stepped(double seconds, bool is_saving) noexcept = 0;
  /// The run continues from a checkpoint, with what its notes keep.
  virtual void restarted(const restart& how, const policy_memory& notes) noexcept = 0;
  /// Adds what a checkpoint keeps.
  virtual void remember(policy_memory& notes) const noexcept = 0;

  // For the training thread of each rank, where each host has a first place of its own: see levels/joint_copy.hpp.
  [[nodiscard]] virtual std::string request() const { return {}; }
  virtual void requested(const std::string& /*text*/) {}
  [[nodiscard]] virtual std::uint64_t done() const { return 0; }
  [[nodiscard]] virtual std::string failure() const { return {}; }
  virtual void answered(std::uint64_t /*number*/, const std::vector<std::string>& /*failures*/) {}
  virtual void hurry() {}
};

/// Several places, the nearest first. Thread-safe.
class level_set {
 public:
  virtual ~level_set() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual any_store& place(std::size_t number) = 0;
  /// The numbers of the places that have the checkpoint, ascending.
  [[nodiscard]] virtual std::vector<std::size_t> having(const std::string& name) const = 0;
  /// What is left at a place of runs from which another machine has continued, the newest first.
  [[nodiscard]] virtual std::vector<std::string> abandoned(std::size_t place) const = 0;
  /// Removes that from all places.
  virtual void remove_abandoned() = 0;
  /// When the run began that has the lock, in seconds since 1970: later than that of all checkpoints there.
  [[nodiscard]] virtual double began() const = 0;
  /// The copies of the run that has the lock, at that rank. `options` and the set outlive them. These types are of
  /// options.hpp, report.hpp and event.hpp.
  [[nodiscard]] virtual std::unique_ptr<level_copies> start(const checkpointer_options& options, unsigned rank,
                                                            unsigned ranks,
                                                            std::function<void(const event&)> on_event) = 0;
  /// How many checkpoints are kept at a place, if it has a rule of its own.
  [[nodiscard]] virtual std::optional<std::size_t> keep_last(std::size_t place) const = 0;
};

/// The first place of several, or the store itself.
[[nodiscard]] inline any_store first_place(const any_store& store) {
  const auto levels = store.levels();
  return levels ? levels->place(0) : store;
}

}  // namespace cairn::inline v0_1::detail
