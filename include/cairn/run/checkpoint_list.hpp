// SPDX-License-Identifier: MIT
// The checkpoints of one run that are named by step: which is the newest, what is removed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/host_set.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/retention.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// The event of an error about a checkpoint, or about several in the store at this path.
[[nodiscard]] inline event failure_event(const std::string& path, std::uint64_t step, const error& cause) {
  return {.what = event::kind::failed,
          .checkpoint = path,
          .step = step,
          .message = std::string(cause.sentence()),
          .code = cause.code()};
}

/// The checkpoints named by step in a store, as this process knows them; removes those that no rule keeps. Not
/// thread-safe, except where it says "any thread".
class checkpoint_list {
 public:
  /// All must outlive the list.
  checkpoint_list(any_store& store, const checkpointer_options& options, const observer& on_event)
      : store_(store), options_(options), on_event_(on_event), pruned_(store) {}

  /// `prune` is for one of several places, which keeps the checkpoints that `copying()` names.
  void prune_at(level_set& levels, std::size_t place, std::function<std::set<std::string>()> copying = {}) {
    pruned_ = levels.place(place);
    levels_ = &levels;
    place_ = place;
    copying_ = std::move(copying);
  }

  /// Names and steps of the checkpoints that are named by step, ascending. Any thread.
  [[nodiscard]] std::vector<std::string> names() const {
    auto all = store_.list();
    std::erase_if(all, [](const auto& name) { return !parse_checkpoint_name(name); });
    return all;
  }
  [[nodiscard]] std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> all;
    for (const auto& name : names()) all.push_back(*parse_checkpoint_name(name));
    return all;
  }

  /// The step of the newest checkpoint that no restore has passed over; 0 if there is none. The first call, and the
  /// first one after `refresh` or `note_failed_save`, lists the store: errc::io.
  [[nodiscard]] std::uint64_t newest_step() {
    if (!newest_step_) {
      std::uint64_t newest = 0;
      for (const auto& name : names())
        if (!unusable_.contains(name)) newest = *parse_checkpoint_name(name);
      newest_step_ = newest;
    }
    return *newest_step_;
  }
  /// As above. But later checkpoints than `step` count only if their index, which this reads, does not say that they
  /// are of another step than their name.
  [[nodiscard]] std::uint64_t newest_step_for(std::uint64_t step) {
    const auto is_of_another_step = [&](const std::string& name) {
      try {
        return read_index(*store_.open(name), index_part::metadata).info.step != parse_checkpoint_name(name);
      } catch (const error& cause) {
        if (cause.code() == errc::io || cause.code() == errc::no_memory) throw;
        return false;  // damaged: it counts
      }
    };
    while (step < newest_step()) {
      auto all = names();
      while (!all.empty() && unusable_.contains(all.back())) all.pop_back();
      if (all.empty() || !is_of_another_step(all.back())) break;
      unusable_.insert(all.back());
      newest_step_.reset();
    }
    return newest_step();
  }
  /// The store may have changed: forgets what is known of it.
  void refresh() noexcept {
    newest_step_.reset();
    known_.clear();
  }
  /// Forgets what is known of a checkpoint, which is going to be replaced.
  void forget(const std::string& name) { known_.erase(name); }
  /// A failed save may still have published its checkpoint, if only the last sync failed. It then counts as the run's
  /// own, unless a checkpoint of its step or later was there before.
  void note_failed_save(const save_job& job) {
    if (newest_step_ && *newest_step_ < job.info.step) run_step_ = job.info.step;
    newest_step_.reset();
    known_.erase(job.name);
  }

  /// Throws errc::stale for a step below `newest`: a restore would prefer that checkpoint. Any thread.
  void refuse_earlier(std::uint64_t step, std::uint64_t newest) const {
    if (step < newest)
      fail(errc::stale,
           {"step ", step, " is below step ", newest, ", the newest checkpoint in ", store_.location(),
            ", which would be restored instead: restore it first, remove later checkpoints with remove_after or "
            "on_older_step = replace, or save to another directory, which keeps them"});
  }

  /// Before a save of `step`: if the run does not continue from the newest checkpoint, does what `on_older_step` says,
  /// which may be to remove checkpoints.
  void make_way(std::uint64_t step) {
    if (options_.on_older_step == when_older::refuse) return refuse_earlier(step, newest_step_for(step));
    const auto last = std::min(step, run_step_.value_or(step));  // the run continues from there
    if (last >= newest_step_for(last)) return;
    remove_later(run_step_ ? std::optional(last) : std::nullopt);
    static_cast<void>(newest_step_for(last));  // see `note_failed_save`
  }

  /// Retention keeps this checkpoint, and no longer the one before: the newest that survives the loss of a host.
  void keep(const std::string& name) { kept_ = name; }
  /// Adds the published checkpoint, or replaces it.
  void saved(const save_job& job, const save_report& report) {
    newest_step_ = run_step_ = job.info.step;
    unusable_.erase(job.name);
    known_checkpoint made{{.name = job.name, .step = job.info.step, .metrics = job.info.metrics}, report.bytes};
    if (report.is_delta) made.entry.needs = {report.parent};
    known_.insert_or_assign(job.name, std::move(made));
  }
  /// The checkpoint `name` has been replaced by its merged form.
  void merged(const std::string& name, const merge_report& report) {
    const auto at = known_.find(name);
    if (at == known_.end()) return;
    at->second.bytes = report.bytes;
    at->second.entry.needs.clear();
    if (!report.parent.empty()) at->second.entry.needs.push_back(report.parent);
  }
  /// The run continues from the restored checkpoint, or anew. Skipped ones do not count until replaced or restored.
  void restored(const std::optional<load_report>& report) {
    run_step_.reset();
    if (!report) return;
    for (const auto& each : report->skipped) unusable_.insert(each.checkpoint);
    unusable_.erase(report->name);
    run_step_ = report->step;
    refresh();
  }

  /// What no rule keeps. errc::io: an index cannot be read; errc::unsupported: one is of another format version.
  [[nodiscard]] std::vector<removal> retention_plan() { return plan(entries(names_to_prune(), pruned_)); }

  /// Removes what no rule keeps; returns the number of removed checkpoints. Reports what cannot be removed as an event.
  std::uint64_t prune() noexcept {
    try {
      const auto count = remove_abandoned();
      if (!rules().any()) return count;
      const auto all = entries(names_to_prune(), pruned_);
      const auto going = plan(all);
      report_missing_metric(all);
      return count + remove(going, pruned_).count;
    } catch (...) {  // the save has succeeded; the next one retries
      const auto cause = as_error(std::current_exception(), {"the checkpoints are not removed"});
      try {
        emit(failure_event(store_.location(), newest_step_.value_or(0), cause));
      } catch (...) {  // no memory
      }
      return 0;
    }
  }

  /// Removes the checkpoints that are later than `step`, or all, newest first, and returns their number. Ends at the
  /// first that cannot be removed, as further ones would wait as long for a place that does not answer. errc::invalid,
  /// before anything is removed, if one that stays needs one of them.
  std::uint64_t remove_later(std::optional<std::uint64_t> step) {
    if (levels_ != nullptr) levels_->remove_abandoned();  // else they could count when the others have gone
    const auto names = store_.list();
    const auto all = entries(names, store_);
    std::vector<removal> plan;
    const auto why = step ? " is later than step " + std::to_string(*step) : std::string(" is of an earlier run");
    std::set<std::string_view> going;
    for (const auto& name : names) {
      const auto at = parse_checkpoint_name(name);
      if (!at || (step && *at <= *step)) continue;
      plan.push_back({name, name + why});
      going.insert(name);
    }
    for (const auto& each : all) {
      if (going.contains(each.name)) continue;
      for (const auto& need : each.needs)
        if (going.contains(need))
          fail(errc::invalid, {need, " in ", store_.location(), " cannot be removed: ", each.name, " is built on it"});
    }
    std::reverse(plan.begin(), plan.end());
    newest_step_.reset();
    const auto done = remove(plan, store_, false);
    if (done.failure) throw error(*done.failure);
    return done.count;
  }

 private:
  struct known_checkpoint {
    retained_entry entry;
    std::uint64_t bytes = 0;
  };
  struct removed {
    std::uint64_t count = 0;
    std::optional<error> failure{};  // the first one
  };

  void emit(const event& what) const { notify(on_event_, what); }
  [[nodiscard]] retention_rules rules() const {
    const auto last = levels_ != nullptr ? levels_->keep_last(place_) : std::nullopt;
    return {last ? last : options_.keep_last, options_.keep_best, options_.keep_every};
  }
  /// What no rule keeps, and what is older than the newest checkpoint and has lost shards with a host.
  [[nodiscard]] std::vector<removal> plan(std::span<const retained_entry> all) const {
    auto going = plan_retention(all, rules());
    const auto hosts = pruned_.hosts();
    if (!hosts || !rules().any()) return going;
    std::set<std::string_view> needed;
    for (const auto& each : all)
      if (!hosts->lacks_shards(each.name)) needed.insert(each.needs.begin(), each.needs.end());
    for (const auto& each : all)
      if (each.step < newest_step_.value_or(0) && hosts->lacks_shards(each.name) && !each.pinned &&
          !needed.contains(each.name))
        going.push_back({each.name, each.name + " has shards that are on no host"});
    return going;
  }
  /// Removes what is left at the place of runs from which another machine has continued. Returns their number.
  std::uint64_t remove_abandoned() {
    if (levels_ == nullptr) return 0;
    std::vector<removal> plan;
    for (const auto& each : entries(levels_->abandoned(place_), pruned_))
      plan.push_back({each.name, each.name + " is of a run that another machine has continued from an earlier step"});
    return remove(plan, pruned_).count;
  }
  /// What is there, and does not belong to such a run.
  [[nodiscard]] std::vector<std::string> names_to_prune() const {
    auto names = pruned_.list();
    if (levels_ == nullptr) return names;
    const auto abandoned = levels_->abandoned(place_);
    std::erase_if(names, [&](const auto& name) { return std::ranges::find(abandoned, name) != abandoned.end(); });
    return names;
  }
  /// The checkpoints `all` as retention sees them: its rules apply to those that are named by step; the others are
  /// listed for what they need. Throws errc::io if an index cannot be read, and errc::unsupported for one of another
  /// format version, whose dependencies are not known.
  [[nodiscard]] std::vector<retained_entry> entries(const std::vector<std::string>& all, const any_store& in) {
    std::vector<retained_entry> entries;
    const auto copying = copying_ ? copying_() : std::set<std::string>();
    const auto hosts = in.hosts();
    for (const auto& name : all) {
      const auto step = parse_checkpoint_name(name);
      if (!step) known_.erase(name);  // others may replace it at any time
      auto& entry = entries.emplace_back(known(name, step, in).entry);
      entry.pinned = step && (options_.pinned.contains(*step) || copying.contains(name) || name == kept_);
      entry.is_usable = step && entry.is_usable && !unusable_.contains(name) && !(hosts && hosts->lacks_shards(name));
    }
    return entries;
  }
  /// The retention entry of a checkpoint: read from its index, unless this process saved it.
  [[nodiscard]] const known_checkpoint& known(const std::string& name, std::optional<std::uint64_t> step,
                                              const any_store& in) {
    if (const auto at = known_.find(name); at != known_.end()) return at->second;
    known_checkpoint made{{.name = name, .step = step.value_or(0)}, 0};
    try {
      auto index = read_newest_index(in, name, index_part::metadata);
      made.entry.is_usable = index.info.step == step;  // else it was renamed or copied
      made.entry.metrics = std::move(index.info.metrics);
      if (index.parent) made.entry.needs.push_back(std::move(index.parent->name));
      made.bytes = index.text_bytes;
      for (const auto& shard : index.shards) made.bytes += shard.bytes;
    } catch (const error& cause) {
      if (cause.code() != errc::corrupt) throw;  // also if it is not there: another process has removed it just now
      made.entry.is_usable = false;              // damaged: what it was built on is not known, and may be removed
    }
    return known_.emplace(name, std::move(made)).first->second;
  }
  /// Reports once that `keep_best` can compare no checkpoints.
  void report_missing_metric(std::span<const retained_entry> all) {
    if (!options_.keep_best || has_metric(all, *options_.keep_best)) return;
    if (std::exchange(is_missing_metric_reported_, true)) return;
    emit(
        {.what = event::kind::unmatched,
         .checkpoint = store_.location(),
         .step = newest_step_.value_or(0),
         .message = "keep_best keeps all checkpoints: none has a finite metric \"" + options_.keep_best->metric + '"'});
  }
  /// Removes the checkpoints of `plan` in its order. After a failure ends, or `goes_on`, but keeps what is needed by
  /// one that could not be removed.
  removed remove(const std::vector<removal>& plan, any_store& from, bool goes_on = true) {
    removed done;
    std::set<std::string> needed;  // by those that could not be removed
    for (const auto& each : plan) {
      const stopwatch watch;
      const auto& found = known_.at(each.name);
      const auto path = store_.location() + "/" + each.name;
      const auto stays = [&] { needed.insert(found.entry.needs.begin(), found.entry.needs.end()); };
      if (needed.contains(each.name)) {
        stays();
        continue;
      }
      try {
        from.remove(each.name);
      } catch (const error& cause) {
        emit(failure_event(path, found.entry.step, cause));
        if (!done.failure) done.failure = cause;
        if (!goes_on) break;
        stays();
        continue;
      }
      ++done.count;
      emit({.what = event::kind::pruned,
            .checkpoint = path,
            .step = found.entry.step,
            .bytes = found.bytes,
            .seconds = watch.seconds(),
            .message = each.reason});
      known_.erase(each.name);
      unusable_.erase(each.name);
    }
    return done;
  }

  any_store& store_;
  const checkpointer_options& options_;
  const observer& on_event_;
  any_store pruned_;  // where retention removes
  level_set* levels_ = nullptr;
  std::size_t place_ = 0;  // of these
  std::function<std::set<std::string>()> copying_{};
  std::optional<std::uint64_t> newest_step_;  // none: not known
  std::optional<std::uint64_t> run_step_;     // of the checkpoint that the run has restored or saved last
  std::string kept_;                          // see `keep`
  bool is_missing_metric_reported_ = false;
  std::map<std::string, known_checkpoint> known_;  // by name
  std::set<std::string> unusable_;                 // those that a restore passed over
};

}  // namespace cairn::inline v0_1::detail
