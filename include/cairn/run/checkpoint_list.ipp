// SPDX-License-Identifier: MIT
// Definitions of history.hpp: which checkpoints are there, and which are removed.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/run/history.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

std::vector<std::string> checkpoint_list::names() const {
  auto all = store_.list();
  std::erase_if(all, [](const auto& name) { return !parse_checkpoint_name(name); });
  return all;
}

std::vector<std::uint64_t> checkpoint_list::steps() const {
  std::vector<std::uint64_t> all;
  for (const auto& name : names()) all.push_back(*parse_checkpoint_name(name));
  return all;
}

std::uint64_t checkpoint_list::newest_step() {
  if (!newest_step_) {
    std::uint64_t newest = 0;
    for (const auto& name : names())
      if (!unusable_.contains(name)) newest = *parse_checkpoint_name(name);
    newest_step_ = newest;
  }
  return *newest_step_;
}

std::uint64_t checkpoint_list::newest_step_for(std::uint64_t step) {
  const auto is_of_another_step = [&](const std::string& name) {
    try {
      return read_index(*store_.open(name)).info.step != parse_checkpoint_name(name);
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

void checkpoint_list::refuse_earlier(std::uint64_t step, std::uint64_t newest) const {
  if (step < newest)
    fail(errc::stale,
         {"step ", step, " is below step ", newest, ", the newest checkpoint in ", store_.location(),
          ", which would be restored instead: restore it first, remove later checkpoints with remove_after or "
          "on_older_step = replace, or save to another directory, which keeps them"});
}

/// Whether there are later checkpoints than `step`, or than the one that the run has restored or saved last.
bool checkpoint_list::continues_from_older(std::uint64_t step) {
  const auto last = std::min(step, run_step_.value_or(step));
  return last < newest_step_for(last);
}

void checkpoint_list::make_way(std::uint64_t step) {
  if (options_.on_older_step == when_older::refuse)
    refuse_earlier(step, newest_step_for(step));
  else if (continues_from_older(step))
    remove_later(run_step_ ? std::optional(std::min(*run_step_, step)) : std::nullopt);
}

void checkpoint_list::saved(const save_job& job, const save_report& report) {
  newest_step_ = run_step_ = job.info.step;
  unusable_.erase(job.name);
  known_checkpoint made{{.name = job.name, .step = job.info.step, .metrics = job.info.metrics}, report.bytes};
  if (report.is_delta) made.entry.needs = {report.parent};
  known_.insert_or_assign(job.name, std::move(made));
}

void checkpoint_list::merged(const std::string& name, const merge_report& report) {
  const auto at = known_.find(name);
  if (at == known_.end()) return;
  at->second.bytes = report.bytes;
  at->second.entry.needs.clear();
  if (!report.parent.empty()) at->second.entry.needs.push_back(report.parent);
}

void checkpoint_list::restored(const std::optional<load_report>& report) {
  run_step_.reset();
  if (!report) return;
  for (const auto& each : report->skipped) unusable_.insert(each.checkpoint);
  unusable_.erase(report->name);
  run_step_ = report->step;
  refresh();
}

std::vector<removal> checkpoint_list::retention_plan() { return plan_retention(entries(store_.list()), rules()); }

std::uint64_t checkpoint_list::prune() noexcept {
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

std::uint64_t checkpoint_list::remove_later(std::optional<std::uint64_t> step) {
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

/// Removes the checkpoints of `plan` in its order. Keeps one that is needed by one that could not be removed.
checkpoint_list::removed checkpoint_list::remove(const std::vector<removal>& plan) {
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

/// Reports once that `keep_best` can compare no checkpoints.
void checkpoint_list::report_missing_metric(std::span<const retained_entry> all) {
  if (!options_.keep_best || has_metric(all, *options_.keep_best)) return;
  if (std::exchange(is_missing_metric_reported_, true)) return;
  emit({.what = event::kind::unmatched,
        .checkpoint = store_.location(),
        .step = newest_step_.value_or(0),
        .message = "keep_best keeps all checkpoints: none has a finite metric \"" + options_.keep_best->metric + '"'});
}

/// The checkpoints `all` as retention sees them: its rules apply to those that are named by step; the others are listed
/// for what they need. Throws errc::io if an index cannot be read, and errc::unsupported for one of another format
/// version, whose dependencies are not known.
std::vector<retained_entry> checkpoint_list::entries(const std::vector<std::string>& all) {
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
const checkpoint_list::known_checkpoint& checkpoint_list::known(const std::string& name,
                                                                std::optional<std::uint64_t> step) {
  if (const auto at = known_.find(name); at != known_.end()) return at->second;
  known_checkpoint made{{.name = name, .step = step.value_or(0)}, 0};
  try {
    auto index = read_index(*store_.open(name));
    made.entry.is_usable = index.info.step == step;  // else it was renamed or copied
    made.entry.metrics = std::move(index.info.metrics);
    if (index.parent) made.entry.needs.push_back(std::move(index.parent->name));
    for (const auto& shard : index.shards) made.bytes += shard.bytes;
  } catch (const error& cause) {
    if (cause.code() != errc::corrupt) throw;  // also if it is not there: another process has removed it just now
    made.entry.is_usable = false;              // damaged: what it was built on is not known, and may be removed
  }
  return known_.emplace(name, std::move(made)).first->second;
}

}  // namespace cairn::inline v0_1::detail
