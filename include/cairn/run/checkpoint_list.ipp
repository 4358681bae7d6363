// Definitions of checkpoint_list.hpp.
#pragma once

#include <algorithm>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "cairn/run/checkpoint_list.hpp"
#include "cairn/store/branches.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::detail {

/// The branch of this run: the newest of `all`, the names in the store, or the one that this run has begun after that.
CAIRN_INLINE run_branch checkpoint_list::branch(const std::vector<std::string>& all) const {
  const auto newest = newest_branch(all);
  const std::scoped_lock lock(branch_mutex_);
  if (branch_.number <= newest.number) branch_ = newest;
  return branch_;
}

CAIRN_INLINE std::string checkpoint_list::name_of(std::uint64_t step) const {
  const std::scoped_lock lock(branch_mutex_);
  return checkpoint_name(step, branch_);
}

CAIRN_INLINE void checkpoint_list::refresh() noexcept {
  newest_step_.reset();
  known_.clear();
  const std::scoped_lock lock(branch_mutex_);
  branch_ = {};
}

CAIRN_INLINE std::vector<std::string> checkpoint_list::names() const {
  auto all = store_.list();
  const auto of = branch(all);
  all = history_of(std::move(all), of);
  std::erase_if(all, [](const auto& name) { return !parse_checkpoint_name(name); });
  return all;
}

CAIRN_INLINE std::vector<std::uint64_t> checkpoint_list::steps() const {
  std::vector<std::uint64_t> all;
  for (const auto& name : names()) all.push_back(*parse_checkpoint_name(name));
  return all;
}

CAIRN_INLINE std::uint64_t checkpoint_list::newest_step() {
  if (!newest_step_) {
    std::uint64_t newest = 0;
    for (const auto& name : names())
      if (!unusable_.contains(name)) newest = *parse_checkpoint_name(name);
    newest_step_ = newest;
  }
  return *newest_step_;
}

CAIRN_INLINE void checkpoint_list::refuse_earlier(std::uint64_t step, std::uint64_t newest) const {
  if (step < newest)
    fail(errc::stale,
         {"step ", step, " is below step ", newest, ", the newest checkpoint in ", store_.location(),
          ", which would be restored instead: restore it first, remove later checkpoints with remove_after or "
          "on_older_step = replace, keep them with on_older_step = branch, or save to another directory"});
}

CAIRN_INLINE std::string checkpoint_list::make_way(std::uint64_t step) {
  switch (options_.on_older_step) {
    case when_older::refuse:
      refuse_earlier(step, newest_step());
      break;
    case when_older::replace:
      if (step < newest_step()) remove_later(run_step_ ? std::optional(std::min(*run_step_, step)) : std::nullopt);
      break;
    case when_older::branch:
      branch_off(step);
  }
  return name_of(step);
}

/// The last of `names` up to `step`, where a branch continues from.
[[nodiscard]] inline std::optional<run_branch::point> branch_point(const std::vector<std::string>& names,
                                                                   std::uint64_t step) {
  std::optional<run_branch::point> last;
  for (const auto& name : names)
    if (const auto at = *parse_checkpoint_name(name); at <= step) last = {parse_branch(name).number, at};
  return last;
}

CAIRN_INLINE void checkpoint_list::branch_off(std::uint64_t step) {
  const auto newest = newest_step();
  if (options_.on_older_step != when_older::branch || step > newest ||
      (step == newest && (newest == 0 || run_step_ == newest)))
    return;
  run_branch made{newest_branch(store_.list()).number + 1, {}};
  if (run_step_ && step > 0) made.from = branch_point(names(), std::min(*run_step_, step - 1));
  newest_step_ = made.from ? made.from->step : 0;
  const std::scoped_lock lock(branch_mutex_);
  branch_ = made;
}

CAIRN_INLINE void checkpoint_list::saved(const save_job& job, const save_report& report) {
  newest_step_ = run_step_ = job.info.step;
  unusable_.erase(job.name);
  known_checkpoint made{{.name = job.name, .step = job.info.step, .metrics = job.info.metrics}, report.bytes};
  if (report.is_delta) made.entry.needs = {report.parent};
  known_.insert_or_assign(job.name, std::move(made));
}

CAIRN_INLINE void checkpoint_list::merged(const std::string& name, const merge_report& report) {
  const auto at = known_.find(name);
  if (at == known_.end()) return;
  at->second.bytes = report.bytes;
  at->second.entry.needs.clear();
  if (!report.parent.empty()) at->second.entry.needs.push_back(report.parent);
}

CAIRN_INLINE void checkpoint_list::restored(const std::optional<load_report>& report) {
  run_step_.reset();
  if (!report) return;
  for (const auto& each : report->skipped) unusable_.insert(each.checkpoint);
  unusable_.erase(report->name);
  run_step_ = report->step;
  refresh();
}

CAIRN_INLINE std::vector<removal> checkpoint_list::retention_plan() { return plan_retention(entries(), rules()); }

CAIRN_INLINE std::uint64_t checkpoint_list::prune() {
  if (!rules().any()) return 0;
  std::vector<removal> plan;
  try {
    const auto all = entries();
    plan = plan_retention(all, rules());
    report_missing_metric(all);
  } catch (const error& cause) {  // the save has succeeded; the next one retries
    emit({.what = event::kind::failed,
          .checkpoint = store_.location(),
          .step = newest_step_.value_or(0),
          .message = std::string(cause.sentence())});
    return 0;
  }
  return remove(plan).count;
}

CAIRN_INLINE std::uint64_t checkpoint_list::remove_later(std::optional<std::uint64_t> step) {
  const auto all = entries();
  const auto mine = names();
  std::vector<removal> plan;
  const auto why = step ? " is later than step " + std::to_string(*step) : std::string(" is of an earlier run");
  std::set<std::string_view> going;
  for (const auto& name : mine) {
    if (step && *parse_checkpoint_name(name) <= *step) continue;
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
  const auto done = remove(plan);
  newest_step_.reset();
  if (done.failure) throw error(*done.failure);
  shorten_history(step);
  return done.count;
}

/// After those later than `step` have been removed, or all: the branch of this run, if nothing is left of it, continues from what is left.
CAIRN_INLINE void checkpoint_list::shorten_history(std::optional<std::uint64_t> step) {
  const auto left = names();
  const std::scoped_lock lock(branch_mutex_);
  if (!branch_.from || (step && branch_.from->step <= *step)) return;
  branch_.from = step ? branch_point(left, *step) : std::nullopt;
}

/// Removes the checkpoints of `plan` in its order, but none that one needs which could not be removed.
CAIRN_INLINE checkpoint_list::removed checkpoint_list::remove(const std::vector<removal>& plan) {
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
      emit({.what = event::kind::failed,
            .checkpoint = path,
            .step = found.entry.step,
            .message = std::string(cause.sentence())});
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

/// Reports once that `keep_best` can compare no checkpoints.
CAIRN_INLINE void checkpoint_list::report_missing_metric(std::span<const retained_entry> all) {
  if (!options_.keep_best || has_metric(all, *options_.keep_best)) return;
  if (std::exchange(is_missing_metric_reported_, true)) return;
  emit({.what = event::kind::unmatched,
        .checkpoint = store_.location(),
        .step = newest_step_.value_or(0),
        .message = "keep_best keeps all checkpoints: none has the metric \"" + options_.keep_best->metric + '"'});
}

/// The published checkpoints as retention sees them; no rule applies to those that are not in the history of the run or not named by step,
/// which count for what they need.
/// Throws errc::io if an index cannot be read, and errc::unsupported for one of a newer format version, whose dependencies are not known.
CAIRN_INLINE std::vector<retained_entry> checkpoint_list::entries() {
  std::vector<retained_entry> all;
  const auto mine = names();
  for (const auto& name : store_.list()) {
    const auto step = parse_checkpoint_name(name);
    if (!step) known_.erase(name);  // others may replace it at any time
    all.push_back(known(name, step).entry);
    const bool is_mine = std::binary_search(mine.begin(), mine.end(), name, checkpoint_before);
    all.back().pinned = is_mine && options_.pinned.contains(*step);
    all.back().is_usable = is_mine && all.back().is_usable && !unusable_.contains(name);
  }
  return all;
}

/// The retention entry of a checkpoint: read from its index, unless this process saved it.
CAIRN_INLINE const checkpoint_list::known_checkpoint& checkpoint_list::known(const std::string& name,
                                                                             std::optional<std::uint64_t> step) {
  if (const auto at = known_.find(name); at != known_.end()) return at->second;
  known_checkpoint made{{.name = name, .step = step.value_or(0)}, 0};
  try {
    auto index = read_index(store_, name);
    made.entry.is_usable = index.info.step == step;  // else it was renamed or copied
    made.entry.metrics = std::move(index.info.metrics);
    if (index.parent) made.entry.needs.push_back(std::move(index.parent->name));
    for (const auto& shard : index.shards) made.bytes += shard.bytes;
  } catch (const error& cause) {
    if (cause.code() != errc::corrupt) throw;  // also if it is not there: another process has replaced it just now
    made.entry.is_usable = false;              // damaged: what it was built on is not known, and may be removed
  }
  return known_.emplace(name, std::move(made)).first->second;
}

}  // namespace cairn::detail
