// SPDX-License-Identifier: MIT
// Checkpoints at several places, for frequent saves to a near one and occasional copies to far ones: each is published
// at the first place, and copied from there to the others in the background. A level is a place with its options;
// levels are numbered from 0, the nearest.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {

namespace detail {
class level_list;
class level_set;
}  // namespace detail

/// What holds for one place. Without these, the rules of the checkpointer hold at each place for what is there.
struct level_options {
  std::optional<std::size_t> keep_last{};  ///< instead of checkpointer_options::keep_last, at least 1
  // Not of the first place:
  /// From the beginning of one copy to that of the next, at least 0; nullopt: chosen, see schedule::level_periods.
  std::optional<std::chrono::duration<double>> every{};
  std::optional<double> max_bytes_per_second{};  ///< of copies, above 0; nullopt: no limit
};

/// A place for checkpoints, with its options.
struct level {
  any_store place;        ///< where they are
  level_options options;  ///< what holds there

  /// A directory.
  level(const std::string& root, const level_options& how = {});  // NOLINT: a path is a level
  level(const char* root, const level_options& how = {}) : level(std::string(root), how) {}  // NOLINT: as above
  /// Any store.
  level(any_store store, const level_options& how = {}) : place(std::move(store)), options(how) {}  // NOLINT: as above
};

/// Places of the checkpoints of one run, the nearest first: a store for a checkpointer, whose saves are published at
/// the first place and copied from there. In a group all ranks reach all places, and rank 0 copies.
///
/// A copy has the same files under the same names, whose checksums are compared while they are read. It is made with
/// all that it is built on. `save`, the save after a signal and the one before `until` end when all places have the
/// checkpoint; if that fails, `save` throws, and the checkpoint stays at the first place. Other errors of copies are
/// the event `failed`, and the next copy is made later.
///
/// A restore takes the newest checkpoint, from the nearest place that has it whole. What a machine has saved that was
/// cut off, while another one continued its run, is not restored, and removed by the next run that saves there.
class levels {
 public:
  /// Two to eight places, each a path, a store, or a `level`. errc::invalid: see `level_options`, or one place twice.
  template <class... Places>
  requires(sizeof...(Places) > 1 && (std::constructible_from<level, Places> && ...))
  levels(Places&&... places)  // NOLINT: of one list
      : levels(std::vector<level>{level(std::forward<Places>(places))...}) {}
  explicit levels(std::vector<level> places);

  // The functions of a store. `list` has the checkpoints of all places; `remove` removes one from all of them.
  [[nodiscard]] std::string location() const;             ///< that of the first place
  [[nodiscard]] stores::ownership lock();                 ///< of all places
  [[nodiscard]] std::chrono::milliseconds lease() const;  ///< the sum of all places
  [[nodiscard]] std::unique_ptr<stores::transaction> begin(std::string_view name);
  [[nodiscard]] std::unique_ptr<stores::transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] std::vector<std::string> list() const;
  [[nodiscard]] std::shared_ptr<const stores::publication> open(std::string_view name) const;
  void remove(std::string_view name);

 private:
  friend class any_store;
  [[nodiscard]] std::shared_ptr<detail::level_set> level_set_of_places() const;
  [[nodiscard]] std::shared_ptr<detail::host_set> host_set_of_places() const;

  std::shared_ptr<detail::level_list> self_;
};

}  // namespace cairn::inline v0_1
