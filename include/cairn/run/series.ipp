// Definitions of series.hpp.
#pragma once

#include <exception>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/run/rate_limiter.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/run/series.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::detail {

CAIRN_INLINE error as_error(const std::exception& cause, const std::string& what) {
  if (const auto* ours = dynamic_cast<const error*>(&cause)) return *ours;
  if (dynamic_cast<const std::bad_alloc*>(&cause) != nullptr) return {errc::io, what + ": not enough memory"};
  return {errc::invalid, what + ": " + cause.what()};
}

CAIRN_INLINE std::optional<load_report> checkpoint_series::restore(any_mutable_state state,
                                                                   const load_options& options) {
  auto how = options;
  how.codecs.insert(how.codecs.end(), options_.codecs.begin(), options_.codecs.end());
  auto report = restore_newest(store_, state, how, tell_);
  chain_.end();
  if (!report) return report;
  chain_.restored({report->name, report->id}, report->step, report->links);
  for (const auto& each : report->skipped) unusable_.insert(each.checkpoint);
  newest_step_ = report->step;
  return report;
}

CAIRN_INLINE std::string checkpoint_series::path_of(std::uint64_t step) const {
  return store_.location() + "/" + checkpoint_name(step);
}

CAIRN_INLINE save_report checkpoint_series::save(save_request& request) {
  const stopwatch watch;
  const auto name = checkpoint_name(request.step);
  event told{.checkpoint = path_of(request.step), .step = request.step, .total = request.state_bytes()};
  request.steps.encoded = [&](std::uint64_t bytes, double seconds) {
    auto encoded = told;
    encoded.what = event::kind::encoded;
    encoded.bytes = bytes;
    encoded.seconds = seconds;
    tell(encoded);
  };
  request.steps.written = [&](std::uint64_t bytes, double seconds) {
    auto written = told;
    written.what = event::kind::written;
    written.bytes = written.total = bytes;
    written.seconds = seconds;
    tell(written);
  };
  save_report report;
  try {
    if (!ownership_) ownership_ = store_.lock();
    const save_options how{options_.durable, request.threads, request.step,
                           request.metrics,  options_.shards, request.codecs};
    auto chain = options_.chain;
    if (request.kind == save_kind::whole || request.kind == save_kind::raw) chain.anchor_every = 1;
    report = write_description(store_, name, request.what, how, std::move(request.steps), {&chain_, chain});
  } catch (const std::exception& cause) {
    told.what = event::kind::failed;
    const auto failure = as_error(cause, sentence({told.checkpoint, " cannot be saved"}));
    told.message = failure.what();
    tell(told);
    throw error(failure);
  }
  newest_step_ = request.step;
  unusable_.erase(name);
  known_checkpoint made{{.name = name, .step = request.step, .metrics = std::move(request.metrics)}, report.bytes};
  if (report.is_delta) made.entry.needs = {report.parent};
  known_.insert_or_assign(name, std::move(made));
  told.what = event::kind::published;
  told.bytes = report.bytes;
  told.seconds = watch.seconds();
  tell(told);
  return report;
}

CAIRN_INLINE merge_report checkpoint_series::merge(const std::function<void()>& check) {
  const auto name = chain_.parent()->name;
  merge_options how{chain_.deltas_to_merge(), options_.chain.merge_to_whole, options_.threads, options_.codecs, check};
  if (how.threads == 0) how.threads = 1;  // the training has the others
  try {
    auto report = merge_checkpoints(store_, name, how);
    chain_.merged(report.parent.empty());
    if (const auto at = known_.find(name); at != known_.end()) {
      at->second.bytes = report.bytes;
      at->second.entry.needs.clear();
      if (!report.parent.empty()) at->second.entry.needs.push_back(report.parent);
    }
    tell({.what = event::kind::merged,
          .checkpoint = report.checkpoint,
          .step = newest_step_,
          .bytes = report.bytes,
          .total = report.bytes,
          .seconds = report.seconds,
          .message = std::to_string(report.deltas) + " deltas"});
    return report;
  } catch (const std::exception& cause) {
    const auto failure = as_error(cause, sentence({path_of(newest_step_), " cannot be merged"}));
    tell({.what = event::kind::failed, .checkpoint = name, .step = newest_step_, .message = failure.what()});
    throw error(failure);
  }
}

CAIRN_INLINE std::vector<removal> checkpoint_series::retention_plan() {
  return plan_retention(entries(), {options_.keep_last, options_.keep_best, options_.keep_every});
}

CAIRN_INLINE std::uint64_t checkpoint_series::prune() {
  std::vector<removal> plan;
  try {
    plan = retention_plan();
  } catch (const error& cause) {  // the save is done all the same, and the next one tries again
    tell({.what = event::kind::failed, .checkpoint = store_.location(), .step = newest_step_, .message = cause.what()});
    return 0;
  }
  std::uint64_t removed = 0;
  std::set<std::string> needed;  // by those that could not be removed
  for (const auto& each : plan) {
    const stopwatch watch;
    const auto& at_hand = known_.at(each.name);
    const auto stays = [&] { needed.insert(at_hand.entry.needs.begin(), at_hand.entry.needs.end()); };
    if (needed.contains(each.name)) {
      stays();
      continue;
    }
    event told{.what = event::kind::pruned,
               .checkpoint = each.name,
               .step = at_hand.entry.step,
               .bytes = at_hand.bytes,
               .message = each.reason};
    try {
      store_.remove(each.name);
    } catch (const error& cause) {  // the save is done all the same, and the next one tries again
      told.what = event::kind::failed;
      told.bytes = 0;
      told.message = cause.what();
      tell(told);
      stays();
      continue;
    }
    ++removed;
    known_.erase(each.name);
    told.seconds = watch.seconds();
    tell(told);
  }
  return removed;
}

/// The published checkpoints. Those that cannot be restored, as far as is known, do not count for any rule and are left where they
/// are, with what they need: they may be all that is left for a person to look at. errc::io when there is one of which nothing is
/// known, as it cannot be read now.
CAIRN_INLINE std::vector<retained_entry> checkpoint_series::entries() {
  std::vector<retained_entry> all;
  for (const auto& name : store_.list()) {
    const auto step = parse_checkpoint_name(name);
    if (!step) continue;
    all.push_back(known(name, *step).entry);
    all.back().pinned = options_.pinned.contains(*step) || *step == newest_step_;
    all.back().counts = all.back().counts && !unusable_.contains(name);
  }
  return all;
}

/// What retention has to know of a checkpoint: it is read of one of an earlier process.
CAIRN_INLINE const checkpoint_series::known_checkpoint& checkpoint_series::known(const std::string& name,
                                                                                 std::uint64_t step) {
  if (const auto at = known_.find(name); at != known_.end()) return at->second;
  known_checkpoint made{{.name = name, .step = step}, 0};
  try {
    auto index = read_index(store_, name);
    made.entry.metrics = std::move(index.metrics);
    if (index.parent) made.entry.needs.push_back(std::move(index.parent->name));
    for (const auto& shard : index.shards) made.bytes += shard.bytes;
  } catch (const error& cause) {
    if (cause.code() == errc::io) throw;
    made.entry.counts = false;  // it is damaged, and nobody knows what it needs
  }
  return known_.emplace(name, std::move(made)).first->second;
}

}  // namespace cairn::detail
