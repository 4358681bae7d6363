// SPDX-License-Identifier: MIT
// Definitions of series.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/as_error.hpp"
#include "cairn/chain/load.hpp"
#include "cairn/chain/save_pipeline.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/series.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/index_only.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// A save between `begin` and `finish`.
struct checkpoint_series::running_save {
  explicit running_save(std::shared_ptr<save_job> what) : job(std::move(what)) {}

  stopwatch watch;
  std::shared_ptr<save_job> job;
  std::optional<save_pipeline> pipeline;
};

checkpoint_series::checkpoint_series(any_store store, const checkpointer_options& options, team& ranks,
                                     observer on_event)
    : store_(std::move(store)),
      options_(options),
      ranks_(ranks),
      on_event_(std::move(on_event)),
      checkpoints_(store_, options_, on_event_) {}

checkpoint_series::~checkpoint_series() = default;

load_options checkpoint_series::for_restore(load_options options) const {
  options.codecs.insert(options.codecs.end(), options_.codecs.begin(), options_.codecs.end());
  if (!options.verify_first) options.verify_first = bool(options.rename);
  return options;
}

void checkpoint_series::restored(const std::optional<load_report>& report) {
  base_.clear();
  checkpoints_.restored(report);
  if (report) base_.restored({report->name, report->id}, report->step, report->links);
}

std::optional<load_report> checkpoint_series::restore(any_mutable_state state, const load_options& options) {
  require_same_restore(options);
  fence();
  auto report = detail::restore(store_, state, for_restore(options), on_event_, ranks_);
  restored(report);
  return report;
}

/// The checkpoints that have the metric, the best first; without an order those whose loss is finite, the newest first. Damaged ones come before
/// them: they may be the best, and are reported as skipped.
std::vector<std::string> checkpoint_series::names_by_metric(const std::optional<metric_order>& order) const {
  const auto metric = order ? order->metric : std::string("loss");
  struct candidate {
    double value;
    std::string name;
  };
  std::vector<candidate> found;
  std::vector<std::string> names;
  const auto all = checkpoints_.names();
  for (const auto& name : all) {
    try {
      const auto metrics = read_index(store_, name).info.metrics;
      const auto at = metrics.find(metric);
      if (at == metrics.end() || (order ? is_nan(at->second) : !is_finite(at->second))) continue;
      const double sign = !order ? 0 : order->lower_is_better ? 1 : -1;
      found.push_back({sign * at->second, name});
    } catch (const error& cause) {
      if (!is_of_checkpoint(cause.code())) throw;
      names.push_back(name);
    }
  }
  if (found.empty() && names.empty() && !all.empty())
    fail(errc::not_found, {"no checkpoint in ", store_.location(),
                           order ? " has the metric \"" + metric + '"' : std::string(" has a finite loss")});
  std::sort(found.begin(), found.end(), [](const candidate& a, const candidate& b) {
    return a.value != b.value ? a.value < b.value : checkpoint_before(b.name, a.name);  // of equals, the newer one
  });
  for (auto& each : found) names.push_back(std::move(each.name));
  return names;
}

std::optional<load_report> checkpoint_series::restore_by(any_mutable_state state,
                                                         const std::optional<metric_order>& order,
                                                         const load_options& options) {
  require_same_restore(
      options, order ? order->metric + (order->lower_is_better ? ", lower is better" : ", higher is better") : "loss");
  refuse_step(options);
  fence();
  const auto names = names_from_leader(ranks_, [&] { return names_by_metric(order); });
  auto report = restore_first(store_, [&] { return names; }, state, for_restore(options), on_event_, ranks_);
  restored(report);
  return report;
}

event checkpoint_series::about(event::kind what, std::uint64_t step) const {
  return {.what = what, .checkpoint = store_.location() + "/" + checkpoint_name(step), .step = step};
}

event checkpoint_series::about(event::kind what, const save_job& job) const {
  return {.what = what,
          .checkpoint = store_.location() + "/" + job.name,
          .step = job.info.step,
          .total = job.state_bytes()};
}

error checkpoint_series::failed(event what, const std::exception_ptr& cause, bool is_reported) const {
  auto failure = as_error(cause, sentence({what.checkpoint, " cannot be saved"}));
  if (failure.code() == errc::cancelled) {
    what.what = event::kind::skipped;
    failure = error(errc::cancelled, sentence({what.checkpoint, ": ", failure.sentence()}));
  }
  what.message = std::string(failure.sentence());
  what.code = failure.code();
  if (!is_reported) emit(what);
  return failure;
}

/// Calls `act` for the running save. If it throws, cancels the save, reports the error, and throws it as cairn::error.
template <class Act>
auto checkpoint_series::cancel_on_error(const Act& act) {
  try {
    return act();
  } catch (...) {
    const auto what = about(event::kind::failed, *running_->job);
    if (running_->pipeline) checkpoints_.failed(*running_->job);
    cancel();
    is_failure_reported_ = true;
    throw error(failed(what, std::current_exception()));
  }
}

/// Excludes other processes, which may have saved until now.
void checkpoint_series::own_store() {
  if (ownership_) return;
  ownership_ = store_.lock();
  checkpoints_.refresh();
}

/// The events of the running save.
void checkpoint_series::set_hooks() {
  auto& job = *running_->job;
  job.hooks.anchored = [this, what = about(event::kind::anchored, job)](const std::string& why) mutable {
    what.message = why;
    emit(what);
  };
  job.hooks.encoded = [this, what = about(event::kind::encoded, job)](std::uint64_t bytes, double seconds) mutable {
    what.bytes = bytes;
    what.seconds = seconds;
    emit(what);
  };
  job.hooks.written = [this, what = about(event::kind::written, job)](std::uint64_t bytes, double seconds) mutable {
    what.bytes = what.total = bytes;
    what.seconds = seconds;
    emit(what);
  };
}

void checkpoint_series::begin(std::shared_ptr<save_job> what, std::size_t shards) {
  running_ = std::make_unique<running_save>(std::move(what));
  cancel_on_error([&] {
    own_store();
    auto& job = *running_->job;
    checkpoints_.make_way(job.info.step);
    set_hooks();
    running_->pipeline.emplace(store_, job, shards, &base_);
  });
}

void checkpoint_series::add(std::span<const std::vector<staged_piece>> shards) {
  cancel_on_error([&] { running_->pipeline->add(shards); });
}

save_report checkpoint_series::finish() {
  return published(cancel_on_error([&] { return running_->pipeline->finish(); }));
}

/// Notes that the running save is published.
save_report checkpoint_series::published(save_report report) {
  auto& job = *running_->job;
  checkpoints_.saved(job, report);
  auto what = about(event::kind::published, job);
  what.bytes = report.bytes;
  what.seconds = running_->watch.seconds();
  running_.reset();
  emit(what);
  // Only the first save with unmatched rules reports them.
  if (unmatched_reported_ || report.unmatched_rules.empty()) return report;
  unmatched_reported_ = true;
  for (const auto& pattern : report.unmatched_rules) {
    what = {.what = event::kind::unmatched, .checkpoint = what.checkpoint, .step = what.step};
    what.message = sentence({"the codec rule \"", pattern, "\" encodes no leaf"});
    emit(what);
  }
  return report;
}

void checkpoint_series::cancel() noexcept { running_.reset(); }

save_report checkpoint_series::save(std::shared_ptr<save_job> job, std::size_t parts) {
  const auto shards = from_leaves<staged_piece>(divide_evenly(job->what.leaves, parts == 0 ? options_.shards : parts));
  const auto at_once = parts == 0 ? shards.size() : 1;
  begin(std::move(job), shards.size());
  for (std::size_t first = 0; first < shards.size(); first += at_once) add(std::span(shards).subspan(first, at_once));
  return finish();
}

std::uint64_t checkpoint_series::remove_after(std::uint64_t step) {
  own_store();
  return checkpoints_.remove_later(step);
}

}  // namespace cairn::inline v0_1::detail
