// The one object that a trainer holds: restores, decides when to save, saves, and keeps the directory tidy.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/event.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/every.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/retention.hpp"

namespace cairn {

/// What a checkpointer keeps, when it saves, how, and whom it tells. Checkpoints that no rule keeps are
/// removed after a save; with no rule at all everything is kept.
struct checkpointer_options {
  std::optional<std::size_t> keep_last{};  ///< the newest ones
  std::optional<keep_best_rule>
      keep_best{};  ///< the best by a metric: "loss" or one of `observation::metrics`
  std::optional<std::uint64_t> keep_every{};  ///< those at multiples of so many steps
  std::set<std::uint64_t> pinned{};           ///< these steps, always
  any_policy when = policies::every{std::chrono::minutes{10}};
  bool durable = true;   ///< see save_options
  unsigned threads = 0;  ///< for saving; 0: what the store takes to be best
  std::size_t shards = 1;
  observer on_event{};
};

/// What the trainer says of the step that it has done.
struct observation {
  std::uint64_t step = 0;
  std::optional<double> loss{};
  std::map<std::string, double>
      metrics{};  ///< kept in the checkpoint with the loss, for retention and for people
};

/// What `step` did.
struct step_outcome {
  bool saved = false;
  save_report report{};

  explicit operator bool() const noexcept { return saved; }
};

/// Checkpoints of one run in one place, named by step. From the first save on it owns the place: a second
/// process that saves there gets errc::busy. Not thread-safe: one trainer thread calls it.
class checkpointer {
 public:
  /// Checkpoints in the directory `root`, which is made by the first save. Does not touch the disk.
  explicit checkpointer(const std::string& root, checkpointer_options options = {})
      : checkpointer(any_store(stores::directory(root, {.durable = options.durable})), std::move(options)) {}

  /// Checkpoints in any store.
  explicit checkpointer(any_store store, checkpointer_options options = {})
      : store_(std::move(store)), options_(std::move(options)), begin_(std::chrono::steady_clock::now()) {}

  /// Loads the newest checkpoint that can be restored; nothing when there is none yet, as on the first run.
  /// Corrupt ones are passed over with an event and listed in the report. A checkpoint that does not fit the
  /// state is an error
  /// (`mismatch`), and so is a place where none of the checkpoints can be restored. The state is then as it
  /// was.
  template <class State>
  std::optional<load_report> restore(State& state, const load_options& options = {}) {
    auto report = detail::restore_newest(store_, state, options, options_.on_event);
    if (report) {
      for (const auto& each : report->skipped) unusable_.insert(each.checkpoint);
      begin_ = std::chrono::steady_clock::now();
      saved_step_ = report->step;
      saved_seconds_ = 0;
    }
    return report;
  }

  /// Tells of a step done; saves when the policy says so. Throws what `save` throws.
  template <class State>
  step_outcome step(const State& state, observation now) {
    const moment here{now.step, detail::seconds_since(begin_), saved_step_, saved_seconds_, now.loss};
    if (!options_.when.should_save(here)) return {};
    return {.saved = true, .report = save(state, std::move(now))};
  }

  /// Saves now, whatever the policy says, and then removes what no rule keeps. After an error nothing is left
  /// behind of this save, and all earlier checkpoints stay.
  template <class State>
  save_report save(const State& state, observation now) {
    return write(describe(state), std::move(now));
  }

  /// Returns when all that was to be saved is saved, and throws if it could not be.
  void wait() {}

  /// What retention would remove now, and why; removes nothing.
  [[nodiscard]] std::vector<removal> retention_plan() { return plan_retention(entries(), rules()); }

  [[nodiscard]] const any_store& store() const noexcept { return store_; }

 private:
  save_report write(const description& what, observation now) {
    if (now.loss) now.metrics.emplace("loss", *now.loss);
    const auto name = checkpoint_name(now.step);
    event told{.what = event::kind::started, .checkpoint = store_.location() + "/" + name, .step = now.step};
    for (const auto& each : what.leaves) told.total += each.bytes();
    tell(told);
    try {
      if (!ownership_) ownership_ = store_.lock();
      const save_options how{options_.durable, options_.threads, now.step, now.metrics, options_.shards};
      auto report = detail::write_description(store_, name, what, how, progress_of(told));
      saved_step_ = now.step;
      saved_seconds_ = detail::seconds_since(begin_);
      unusable_.erase(name);
      known_.insert_or_assign(name, retained_entry{name, now.step, std::move(now.metrics), false, {}});
      told.what = event::kind::published;
      told.bytes = report.bytes;
      told.seconds = report.seconds;
      tell(told);
      prune();
      return report;
    } catch (const error& cause) {
      if (told.what == event::kind::started) {
        told.what = event::kind::failed;
        told.message = cause.what();
        tell(told);
      }
      throw;
    }
  }

  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const event& started) {
    if (!options_.on_event) return {};
    return [this, told = started, lock = std::make_shared<std::mutex>(), most = std::uint64_t{0}](
               std::uint64_t bytes, std::uint64_t total) mutable {
      const std::lock_guard one_at_a_time(*lock);
      if (bytes < most) return;  // threads may report out of order
      most = bytes;
      told.what = event::kind::progress;
      told.bytes = bytes;
      told.total = total;
      tell(told);
    };
  }

  void prune() {
    for (const auto& each : retention_plan()) {
      store_.remove(each.name);
      known_.erase(each.name);
      tell({.what = event::kind::pruned, .checkpoint = each.name, .message = each.reason});
    }
  }

  [[nodiscard]] retention_rules rules() const {
    return {options_.keep_last, options_.keep_best, options_.keep_every};
  }

  /// The published checkpoints that can be restored, as far as is known. What cannot be does not count for
  /// any rule and is left where it is: it may be all that is left for a person to look at.
  [[nodiscard]] std::vector<retained_entry> entries() {
    std::vector<retained_entry> all;
    for (const auto& name : store_.list()) {
      const auto step = parse_checkpoint_name(name);
      if (!step || unusable_.contains(name)) continue;
      if (!known_.contains(name) && !remember(name, *step)) continue;
      all.push_back(known_.at(name));
      all.back().pinned = options_.pinned.contains(*step) || *step == saved_step_;
    }
    return all;
  }

  /// Reads the metrics of a checkpoint of an earlier process, where a rule asks for them.
  bool remember(const std::string& name, std::uint64_t step) {
    retained_entry entry{name, step, {}, false, {}};
    if (options_.keep_best) {
      try {
        entry.metrics = checkpoint_reader(store_, name).metrics();
      } catch (const error&) {
        unusable_.insert(name);
        return false;
      }
    }
    known_.emplace(name, std::move(entry));
    return true;
  }

  void tell(const event& what) const noexcept {
    try {
      if (options_.on_event) options_.on_event(what);
    } catch (...) {  // an observer cannot fail a save
    }
  }

  any_store store_;
  checkpointer_options options_;
  stores::ownership ownership_;
  std::chrono::steady_clock::time_point begin_;
  std::uint64_t saved_step_ = 0;
  double saved_seconds_ = 0;
  std::map<std::string, retained_entry> known_;  // published checkpoints, by name
  std::set<std::string> unusable_;               // those that a restore passed over
};

}  // namespace cairn
