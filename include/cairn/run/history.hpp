// SPDX-License-Identifier: MIT
// The checkpoints of one run in their store: what is there, what the next one is built on, what is removed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/load.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/group/team.hpp"
#include "cairn/options.hpp"
#include "cairn/run/shares.hpp"
#include "cairn/state/base.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
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
      : store_(store), options_(options), on_event_(on_event) {}

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
  /// first one after `refresh` or `failed`, lists the store: errc::io.
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
  /// A failed save may still have published its checkpoint, if only the last sync failed. It then counts as the run's
  /// own, unless a checkpoint of its step or later was there before.
  void failed(const save_job& job) {
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
    static_cast<void>(newest_step_for(last));  // see `failed`
  }

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
  [[nodiscard]] std::vector<removal> retention_plan() { return plan_retention(entries(store_.list()), rules()); }

  /// Removes what no rule keeps; returns the number of removed checkpoints. Reports what cannot be removed as an event.
  std::uint64_t prune() noexcept {
    try {
      if (!rules().any()) return 0;
      const auto all = entries(store_.list());
      const auto plan = plan_retention(all, rules());
      report_missing_metric(all);
      return remove(plan).count;
    } catch (...) {  // the save has succeeded; the next one retries
      const auto cause = as_error(std::current_exception(), {"the checkpoints are not removed"});
      try {
        emit(failure_event(store_.location(), newest_step_.value_or(0), cause));
      } catch (...) {  // no memory
      }
      return 0;
    }
  }

  /// Removes the checkpoints that are later than `step`, or all, newest first, and returns their number. errc::invalid,
  /// before anything is removed, if one that stays needs one of them.
  std::uint64_t remove_later(std::optional<std::uint64_t> step) {
    const auto names = store_.list();
    const auto all = entries(names);
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
    const auto done = remove(plan);
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
  [[nodiscard]] retention_rules rules() const { return {options_.keep_last, options_.keep_best, options_.keep_every}; }
  /// The checkpoints `all` as retention sees them: its rules apply to those that are named by step; the others are
  /// listed for what they need. Throws errc::io if an index cannot be read, and errc::unsupported for one of another
  /// format version, whose dependencies are not known.
  [[nodiscard]] std::vector<retained_entry> entries(const std::vector<std::string>& all) {
    std::vector<retained_entry> entries;
    for (const auto& name : all) {
      const auto step = parse_checkpoint_name(name);
      if (!step) known_.erase(name);  // others may replace it at any time
      auto& entry = entries.emplace_back(known(name, step).entry);
      entry.pinned = step && options_.pinned.contains(*step);
      entry.is_usable = step && entry.is_usable && !unusable_.contains(name);
    }
    return entries;
  }
  /// The retention entry of a checkpoint: read from its index, unless this process saved it.
  [[nodiscard]] const known_checkpoint& known(const std::string& name, std::optional<std::uint64_t> step) {
    if (const auto at = known_.find(name); at != known_.end()) return at->second;
    known_checkpoint made{{.name = name, .step = step.value_or(0)}, 0};
    try {
      auto index = read_index(*store_.open(name), index_part::metadata);
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
  /// Removes the checkpoints of `plan` in its order. Keeps one that is needed by one that could not be removed.
  removed remove(const std::vector<removal>& plan) {
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
        store_.remove(each.name);
      } catch (const error& cause) {
        emit(failure_event(path, found.entry.step, cause));
        if (!done.failure) done.failure = cause;
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
  std::optional<std::uint64_t> newest_step_;  // none: not known
  std::optional<std::uint64_t> run_step_;     // of the checkpoint that the run has restored or saved last
  bool is_missing_metric_reported_ = false;
  std::map<std::string, known_checkpoint> known_;  // by name
  std::set<std::string> unusable_;                 // those that a restore passed over
};

/// Which checkpoint is restored: the newest, or that of `load_options::step`; the best by a metric; or the newest whose
/// loss is finite.
struct restore_choice {
  enum class way : std::uint8_t { newest, best, finite };

  way by = way::newest;
  std::optional<metric_order> order{};  ///< of the best; none: that of `keep_best`, else the lowest loss
};

/// Not thread-safe: used by the background thread while it has a job, else by the training thread. `Any thread` marks
/// functions that are thread-safe. None of the functions communicates but the restores.
class history {
 public:
  /// All must outlive the history.
  history(any_store store, const checkpointer_options& options, team& ranks, observer on_event)
      : store_(std::move(store)),
        options_(options),
        ranks_(ranks),
        on_event_(std::move(on_event)),
        checkpoints_(store_, options_, on_event_) {}

  /// With the checkpointer's codecs. Compares checksums before any change only with `rename`, or if the caller asks.
  std::optional<load_report> restore(any_mutable_state state, load_options options, restore_choice choice) {
    const bool is_newest = choice.by == restore_choice::way::newest;
    const auto& best = options_.keep_best;
    if (choice.by == restore_choice::way::best && !choice.order)
      choice.order = best ? metric_order{best->metric, best->lower_is_better} : metric_order();
    require_same_restore(options, choice);
    if (!is_newest) refuse_step(options);
    const auto fence = take_over_store();
    options.codecs.insert(options.codecs.end(), options_.codecs.begin(), options_.codecs.end());
    if (!options.verify_first) options.verify_first = bool(options.rename);
    const auto best_first = [&] { return names_by_metric(choice.order); };
    auto report = is_newest ? detail::restore(store_, state, options, on_event_, ranks_)
                            : restore_first(store_, best_first, state, options, on_event_, ranks_);
    restored(report);
    return report;
  }

  /// Before a save of `step` begins: excludes other processes, and makes way for it, see checkpoint_list.
  void prepare_for(std::uint64_t step) {
    own_store();
    checkpoints_.make_way(step);
  }
  /// The values that the next delta refers to.
  [[nodiscard]] delta_base& base() noexcept { return base_; }
  [[nodiscard]] const delta_base& base() const noexcept { return base_; }
  /// As `options_.replica_check` says: refuses or reports samples that differ between the ranks.
  void check_replicas(const save_job& job, std::span<const std::vector<std::uint64_t>> samples) const {
    if (options_.replica_check == replica_check::off || samples.empty()) return;
    const auto leaves = common_leaves(job);
    const auto difference = find_difference(leaves, sample_pieces(leaves, job.info.step), samples);
    if (difference.empty()) return;
    const auto text = "the ranks do not have the same state: " + difference;
    if (options_.replica_check == replica_check::refuse) fail(errc::mismatch, {text});
    report(event::kind::differing, job, 0, 0, text);
  }
  /// A save is published, which took the seconds of its report. Returns the report.
  save_report saved(const save_job& job, save_report report) {
    checkpoints_.saved(job, report);
    this->report(event::kind::published, job, report.bytes, report.seconds);
    if (report.unmatched_rules.empty() || std::exchange(unmatched_reported_, true)) return report;
    for (const auto& pattern : report.unmatched_rules) {
      const auto text = sentence({"the codec rule \"", pattern, "\" encodes no leaf"});
      emit(about(event::kind::unmatched, job.info.step, text));
    }
    return report;
  }
  /// Is it time to merge deltas? The same at all ranks of a group.
  [[nodiscard]] bool is_merge_due() const {
    const auto& rule = options_.chain.merge;
    return rule && base_.deltas_to_merge() >= rule->every;
  }
  /// The source of a merge of the newest deltas. `check` and `progress`: see merge_options.
  [[nodiscard]] std::unique_ptr<merge_source> source_of_merge(
      std::function<void()> check, std::function<void(std::uint64_t, std::uint64_t)> progress) const {
    const auto& newest = *base_.parent();
    return options_.chain.merge->open(
        store_,
        {.name = newest.name,
         .id = newest.id,
         .ranks = ranks_.size(),
         .rank = ranks_.rank(),
         .how = {.deltas = options_.chain.merge->to_whole ? std::nullopt : std::optional(base_.deltas_to_merge()),
                 .threads = options_.background_threads,
                 .codecs = options_.codecs,
                 .max_bytes = options_.max_staging_bytes,
                 .check = std::move(check),
                 .progress = std::move(progress)}});
  }
  /// The newest checkpoint has been replaced by its merged form.
  void merged(const merge_report& report) {
    const auto& name = base_.parent()->name;
    base_.merged(report.parent.empty());
    checkpoints_.merged(name, report);
    emit({.what = event::kind::merged,
          .checkpoint = report.checkpoint,
          .step = parse_checkpoint_name(name).value_or(0),
          .bytes = report.bytes,
          .total = report.bytes,
          .seconds = report.seconds,
          .message = std::to_string(report.deltas) + " deltas"});
  }

  /// See checkpointer::remove_after.
  std::uint64_t remove_after(std::uint64_t step) {
    own_store();
    return checkpoints_.remove_later(step);
  }

  /// An event about the checkpoint of a step, or about the save of a job. Any thread.
  [[nodiscard]] event about(event::kind what, std::uint64_t step, std::string message = {}) const {
    return {.what = what,
            .checkpoint = store_.location() + "/" + checkpoint_name(step),
            .step = step,
            .message = std::move(message)};
  }
  [[nodiscard]] event about(event::kind what, const save_job& job, std::string message = {}) const {
    auto made = about(what, job.info.step, std::move(message));
    made.total = bytes_of(job.what.leaves);
    return made;
  }
  /// Reports an event of the save of a job. Any thread.
  void report(event::kind what, const save_job& job, std::uint64_t bytes = 0, double seconds = 0,
              const std::string& message = {}) const {
    auto made = about(what, job, message);
    made.bytes = bytes;
    made.seconds = seconds;
    if (what == event::kind::written) made.total = bytes;
    emit(made);
  }
  /// Reports a failed or cancelled save, and returns its error. `what` is an event `failed` about it. Any thread.
  [[nodiscard]] error failed(event what, const std::exception_ptr& cause) const {
    auto failure = as_error(cause, {what.checkpoint, " cannot be saved"});
    if (failure.code() == errc::cancelled) {
      what.what = event::kind::skipped;
      failure = error(errc::cancelled, sentence({what.checkpoint, ": ", failure.sentence()}));
    }
    what.message = std::string(failure.sentence());
    what.code = failure.code();
    emit(what);
    return failure;
  }
  /// Reports a merge that has failed.
  void merge_failed(const error& cause) const {
    if (cause.code() == errc::cancelled) return;
    const auto step = parse_checkpoint_name(base_.parent()->name).value_or(0);
    emit(failure_event(store_.location() + "/" + checkpoint_name(step), step, cause));
  }

  [[nodiscard]] checkpoint_list& checkpoints() noexcept { return checkpoints_; }
  [[nodiscard]] const checkpoint_list& checkpoints() const noexcept { return checkpoints_; }
  [[nodiscard]] any_store& store() noexcept { return store_; }
  [[nodiscard]] const any_store& store() const noexcept { return store_; }

 private:
  /// The checkpoints that have the metric, the best first; without an order those whose loss is finite, the newest
  /// first. Damaged ones come before them: they may be the best, and are reported as skipped.
  [[nodiscard]] std::vector<std::string> names_by_metric(const std::optional<metric_order>& order) const {
    const auto metric = order ? order->metric : std::string("loss");
    std::vector<std::pair<double, std::string>> found;  // with their values
    std::vector<std::string> names;
    const auto all = checkpoints_.names();
    for (const auto& name : all) {
      try {
        const auto metrics = read_index(*store_.open(name), index_part::metadata).info.metrics;
        const auto at = metrics.find(metric);
        if (at == metrics.end() || !is_finite(at->second)) continue;
        const double sign = !order ? 0 : order->lower_is_better ? 1 : -1;
        found.push_back({sign * at->second, name});
      } catch (const error& cause) {
        if (!is_of_checkpoint(cause.code())) throw;
        names.push_back(name);
      }
    }
    if (found.empty() && names.empty() && !all.empty())
      fail(errc::not_found,
           {"no checkpoint in ", store_.location(), " has a finite ", order ? "metric \"" + metric + '"' : metric});
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first
                                : checkpoint_before(b.second, a.second);  // of equals, the newer one
    });
    for (auto& [value, name] : found) names.push_back(std::move(name));
    return names;
  }
  /// Excludes other processes, which may have saved until now.
  void own_store() {
    if (ownership_) return;
    ownership_ = store_.lock();
    checkpoints_.refresh();
  }
  /// errc::mismatch where the ranks would restore other checkpoints or other parts of them.
  void require_same_restore(const load_options& options, const restore_choice& choice) {
    if (ranks_.is_alone()) return;
    const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
    auto text = "step " + (options.step ? std::to_string(*options.step) : "none") + ", strict " +
                number(options.strict) + ", convert " + number(options.convert) + ", sharing " +
                number(options.sharing);
    if (choice.order)
      text += ", best by " + choice.order->metric +
              (choice.order->lower_is_better ? ", lower is better" : ", higher is better");
    else if (choice.by == restore_choice::way::finite)
      text += ", best by loss";
    ranks_.require_same("the options of the restore", text);
  }
  /// For a restore by a group: takes the store from a former job, of which a rank may still be writing. Not where
  /// nothing is there, where another job saves, whose checkpoints may be read, or where nothing can be written.
  [[nodiscard]] stores::ownership take_over_store() {
    stores::ownership taken;
    if (ranks_.is_alone()) return taken;
    ranks_.all([&] {
      if (!ranks_.is_leader() || ownership_ || store_.list().empty()) return;
      try {
        taken = store_.lock();
      } catch (const error& cause) {
        if (cause.code() != errc::io && cause.code() != errc::busy) throw;
      }
    });
    return taken;
  }
  void emit(const event& what) const { notify(on_event_, what); }
  /// The next save is built on the restored checkpoint, or on none.
  void restored(const std::optional<load_report>& report) {
    base_.clear();
    checkpoints_.restored(report);
    if (report) base_.restored({report->name, report->id}, report->step, report->links);
  }

  any_store store_;
  const checkpointer_options& options_;
  team& ranks_;
  observer on_event_;
  stores::ownership ownership_;
  checkpoint_list checkpoints_;
  delta_base base_;
  bool unmatched_reported_ = false;
};

}  // namespace cairn::inline v0_1::detail
