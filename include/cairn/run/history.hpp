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
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/load.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/group/team.hpp"
#include "cairn/options.hpp"
#include "cairn/run/checkpoint_list.hpp"
#include "cairn/run/shares.hpp"
#include "cairn/state/base.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/host_set.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

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
        levels_(store_.levels()),
        hosts_(store_.hosts()),
        checkpoints_(store_, options_, on_event_) {
    if (!levels_) return;
    if (ranks_.is_leader() || hosts_) copies_ = levels_->start(options_, ranks_.rank(), ranks_.size(), on_event_);
    checkpoints_.prune_at(*levels_, 0, [this] { return copies_ ? copies_->copying() : std::set<std::string>(); });
  }

  /// In the first call of all ranks: finds out what the hosts have, where each rank saves to its own.
  void meet() {
    if (!hosts_) return;
    slots_ = hosts_->meet(ranks_);
    checkpoints_.keep(hosts_->newest_sent());
    if (auto text = hosts_->warning(); !text.empty())
      emit({.what = event::kind::unmatched, .checkpoint = store_.location(), .message = std::move(text)});
  }
  /// Null: all ranks save to one place.
  [[nodiscard]] host_set* hosts() const noexcept { return hosts_.get(); }
  /// Sends to other hosts, and receives from them, see host_set::send. What fails is an event. Returns whether all has
  /// been sent.
  bool send(const save_job& job) noexcept {
    try {
      hosts_->send();
      report(event::kind::promoted, job, 0, 0, "to other hosts");
      return true;
    } catch (...) {
      emit_failure(job.name, job.info.step, "what is sent to other hosts");
      return false;
    }
  }
  /// At the leader: what all ranks keep, which is what `prune` does not remove.
  [[nodiscard]] std::vector<std::string> plan_kept() {
    std::set<std::string> going;
    try {
      for (const auto& each : checkpoints_.retention_plan()) going.insert(each.name);
    } catch (const error&) {  // which `prune` reports
    }
    return hosts_->publications(going);
  }
  /// Removes everything else at this rank. What fails is an event; the next save tries it again.
  void keep_only(const std::vector<std::string>& kept) noexcept {
    try {
      hosts_->keep_only(kept);
    } catch (...) {
      emit_failure({}, 0, "the checkpoints are not removed");
    }
  }

  /// With the checkpointer's codecs. Compares checksums before any change only with `rename`, or if the caller asks.
  std::optional<load_report> restore(any_mutable_state state, load_options options, restore_choice choice) {
    const bool is_newest = choice.by == restore_choice::way::newest;
    const auto& best = options_.keep_best;
    if (choice.by == restore_choice::way::best && !choice.order)
      choice.order = best ? metric_order{best->metric, best->lower_is_better} : metric_order();
    require_same_restore(options, choice);
    if (!is_newest) refuse_step(options);
    end_former_job();
    options.codecs.insert(options.codecs.end(), options_.codecs.begin(), options_.codecs.end());
    if (!options.verify_first) options.verify_first = bool(options.rename);
    const auto best_first = [&] { return names_by_metric(choice.order); };
    auto report = is_newest ? detail::restore(store_, state, options, on_event_, ranks_)
                            : restore_first(store_, best_first, state, options, on_event_, ranks_);
    if (hosts_) checkpoints_.keep(hosts_->newest_sent());  // each host has got all shards of one
    restored(report);
    return report;
  }

  /// Before a save begins: excludes other processes, and makes way for it, see checkpoint_list.
  void prepare_for(save_job& job) {
    own_store();
    checkpoints_.make_way(job.info.step);
    if (hosts_) keep_only(hosts_->publications({}));
    if (levels_ || hosts_) job.info.notes[std::string(run_began)] = {levels_ ? levels_->began() : hosts_->began()};
  }
  /// Has the published checkpoint copied to the other places. What fails here is an event.
  void copy_published(const std::string& name) noexcept {
    if (!copies_) return;
    try {
      copies_->published(name);
    } catch (...) {
      emit_failure(name, parse_checkpoint_name(name).value_or(0), "the copies to other places");
    }
  }
  /// The copies to other places. Null without such places, and at all ranks but the leader that do not take part. Any
  /// thread.
  [[nodiscard]] level_copies* copies() const noexcept { return copies_.get(); }
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
    if (hosts_) hosts_->placed();
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
    if (what == event::kind::encoded && !ranks_.is_alone()) made.total = job.share_bytes;
    emit(made);
  }
  /// Reports a failed or cancelled save, and returns its error. `what` is an event `failed` about it. Any thread.
  [[nodiscard]] error report_failure(event what, const std::exception_ptr& cause) const {
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
        const auto metrics = metrics_of(name);
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
  /// Those at the nearest place where the index of the checkpoint can be read.
  [[nodiscard]] std::map<std::string, double> metrics_of(const std::string& name) const {
    for (const auto place : levels_ ? levels_->having(name) : std::vector<std::size_t>()) {
      try {
        return read_newest_index(levels_->place(place), name, index_part::metadata).info.metrics;
      } catch (const error& cause) {
        if (!is_of_checkpoint(cause.code())) throw;
      }
    }
    return read_newest_index(store_, name, index_part::metadata).info.metrics;
  }
  /// Excludes other processes, which may have saved until now.
  void own_store() {
    if (ownership_) return;
    ownership_ = store_.lock();
    checkpoints_.refresh();
    if (!levels_ || !base_.parent()) return;
    const auto abandoned = levels_->abandoned(0);  // since the restore; retention removes them
    if (std::ranges::count(abandoned, base_.parent()->name) != 0) base_.clear();
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
  /// For a restore by a group: ends the lock of a former job, of which a rank may still be writing. Not where nothing
  /// is there, where another job saves, whose checkpoints may be read, or where nothing can be written.
  void end_former_job() {
    if (ranks_.is_alone()) return;
    ranks_.all([&] {
      if (!ranks_.is_leader() || ownership_ || store_.list().empty()) return;
      try {
        static_cast<void>(store_.lock());  // the former owner does not get it back
      } catch (const error& cause) {
        if (cause.code() != errc::io && cause.code() != errc::busy) throw;
      }
    });
  }
  void emit(const event& what) const { notify(on_event_, what); }
  /// Reports what is being thrown, about a checkpoint, or about all.
  void emit_failure(const std::string& name, std::uint64_t step, std::string_view where) const noexcept {
    const auto cause = as_error(std::current_exception(), {where});
    try {
      emit(failure_event(name.empty() ? store_.location() : store_.location() + "/" + name, step, cause));
    } catch (...) {  // no memory
    }
  }
  /// The next save is built on the restored checkpoint, or on none.
  void restored(const std::optional<load_report>& report) {
    base_.clear();
    checkpoints_.restored(report);
    // The first place of several has the whole chain of each delta; a host has not the shards of the others.
    if (report && report->level == 0 && !hosts_)
      base_.restored({report->name, report->id}, report->step, report->links);
  }

  any_store store_;
  const checkpointer_options& options_;
  team& ranks_;
  observer on_event_;
  std::shared_ptr<level_set> levels_;  // null: one place
  std::shared_ptr<host_set> hosts_;    // null: all ranks save to one place
  stores::ownership ownership_, slots_;
  checkpoint_list checkpoints_;
  delta_base base_;
  bool unmatched_reported_ = false;
  std::unique_ptr<level_copies> copies_;  // declared last: what it uses is destroyed after it
};

}  // namespace cairn::inline v0_1::detail
