// Definitions of checkpointer.hpp.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "cairn/checkpointer.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"

namespace cairn {

CAIRN_INLINE checkpointer::checkpointer(const std::string& root, checkpointer_options options)
    : checkpointer(any_store(stores::directory(root, {.durable = options.durable})), std::move(options)) {}

CAIRN_INLINE checkpointer::checkpointer(any_store store, checkpointer_options options)
    : store_(std::move(store)), options_(std::move(options)) {}

CAIRN_INLINE std::optional<load_report> checkpointer::restore(any_state state, const load_options& options) {
  finish_merge();
  auto how = options;
  how.codecs.insert(how.codecs.end(), options_.codecs.begin(), options_.codecs.end());
  auto report = detail::restore_newest(store_, state, how, options_.on_event);
  chain_.end();
  if (report) {
    chain_.restored({report->name, report->id}, report->step, report->links);
    for (const auto& each : report->skipped) unusable_.insert(each.checkpoint);
    watch_ = {};
    saved_step_ = report->step;
    saved_seconds_ = 0;
  }
  return report;
}

CAIRN_INLINE bool checkpointer::is_due(const observation& now) {
  return options_.when.should_save({now.step, watch_.seconds(), saved_step_, saved_seconds_, now.loss});
}

CAIRN_INLINE save_report checkpointer::save(any_state state, const observation& now) {
  finish_merge();
  const auto what = describe(state);
  auto metrics = now.metrics;
  if (now.loss) metrics.emplace("loss", *now.loss);
  const auto name = checkpoint_name(now.step);
  event told{.what = event::kind::started, .checkpoint = store_.location() + "/" + name, .step = now.step};
  for (const auto& each : what.leaves) told.total += each.bytes();
  detail::tell(options_.on_event, told);
  save_report report;
  try {
    if (!ownership_) ownership_ = store_.lock();
    const save_options how{options_.durable, options_.threads, now.step, metrics, options_.shards, options_.codecs};
    report =
        detail::write_description(store_, name, what, how, {.progress = progress_of(told)}, {&chain_, options_.chain});
  } catch (const error& cause) {
    told.what = event::kind::failed;
    told.message = cause.what();
    detail::tell(options_.on_event, told);
    throw;
  }
  saved_step_ = now.step;
  saved_seconds_ = watch_.seconds();
  unusable_.erase(name);
  known_.insert_or_assign(name, retained_entry{name, now.step, std::move(metrics), false, {}});
  if (report.is_delta) known_.at(name).needs = {report.parent};
  told.what = event::kind::published;
  told.bytes = report.bytes;
  told.seconds = report.seconds;
  detail::tell(options_.on_event, told);
  prune();
  if (options_.chain.merge_every >= 2 && chain_.deltas_to_merge() >= options_.chain.merge_every) start_merge(name);
  return report;
}

/// Merges the newest deltas behind the training. The next save waits for it: only one of the two is at the store at a time.
CAIRN_INLINE void checkpointer::start_merge(const std::string& name) {
  const unsigned threads = options_.threads == 0 ? 1 : options_.threads;  // the training has the others
  merge_options how{chain_.deltas_to_merge(), options_.chain.merge_to_whole, threads, options_.codecs};
  try {
    merge_ = std::async(std::launch::async, [store = store_, name, how = std::move(how)]() mutable {
      return merge_checkpoints(store, name, how);
    });
  } catch (const std::system_error&) {
    return;  // no thread to be had: after the next delta perhaps
  }
}

/// Takes over what merging has done. When it failed the old checkpoints are all still there, and it is tried again after the next
/// delta.
CAIRN_INLINE void checkpointer::finish_merge() {
  if (!merge_.valid()) return;
  const auto name = chain_.parent()->name;
  try {
    const auto report = merge_.get();
    chain_.merged(report.parent.empty());
    if (const auto at = known_.find(name); at != known_.end()) {
      at->second.needs.clear();
      if (!report.parent.empty()) at->second.needs.push_back(report.parent);
    }
    detail::tell(options_.on_event, {.what = event::kind::merged,
                                     .checkpoint = report.checkpoint,
                                     .step = saved_step_,
                                     .bytes = report.bytes,
                                     .total = report.bytes,
                                     .seconds = report.seconds,
                                     .message = std::to_string(report.deltas) + " deltas"});
    return;
  } catch (const error& cause) {
    failure_ = cause;
  } catch (const std::exception& cause) {
    failure_ = error(errc::io, sentence({name, " cannot be merged: ", cause.what()}));
  }
  detail::tell(options_.on_event, {.what = event::kind::failed, .checkpoint = name, .message = failure_->what()});
}

CAIRN_INLINE void checkpointer::wait() {
  const bool merged = merge_.valid();
  finish_merge();
  if (merged) prune();
  if (failure_) throw *std::exchange(failure_, std::nullopt);
}

CAIRN_INLINE std::function<void(std::uint64_t, std::uint64_t)> checkpointer::progress_of(const event& started) const {
  if (!options_.on_event) return {};
  return
      [this, told = started, lock = std::make_shared<std::mutex>()](std::uint64_t bytes, std::uint64_t total) mutable {
        const std::lock_guard one_at_a_time(*lock);
        if (bytes < told.bytes) return;  // threads may report out of order
        told.what = event::kind::progress;
        told.bytes = bytes;
        told.total = total;
        detail::tell(options_.on_event, told);
      };
}

CAIRN_INLINE std::vector<removal> checkpointer::retention_plan() {
  finish_merge();
  return plan_retention(entries(), {options_.keep_last, options_.keep_best, options_.keep_every});
}

CAIRN_INLINE void checkpointer::prune() {
  for (const auto& each : retention_plan()) {
    try {
      store_.remove(each.name);
    } catch (const error& cause) {  // the save is done all the same, and the next one tries again
      detail::tell(options_.on_event, {.what = event::kind::failed, .checkpoint = each.name, .message = cause.what()});
      continue;
    }
    known_.erase(each.name);
    detail::tell(options_.on_event, {.what = event::kind::pruned, .checkpoint = each.name, .message = each.reason});
  }
}

/// The published checkpoints that can be restored, as far as is known. What cannot be does not count for any
/// rule and is left where it is: it may be all that is left for a person to look at.
CAIRN_INLINE std::vector<retained_entry> checkpointer::entries() {
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

/// Reads what retention has to know of a checkpoint of an earlier process: its metrics and its parent.
CAIRN_INLINE bool checkpointer::remember(const std::string& name, std::uint64_t step) {
  retained_entry entry{name, step, {}, false, {}};
  try {
    auto index = read_index(store_, name);
    entry.metrics = std::move(index.metrics);
    if (index.parent) entry.needs.push_back(std::move(index.parent->name));
  } catch (const error&) {
    unusable_.insert(name);
    return false;
  }
  known_.emplace(name, std::move(entry));
  return true;
}

}  // namespace cairn
