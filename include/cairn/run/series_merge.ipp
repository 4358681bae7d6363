// SPDX-License-Identifier: MIT
// Definitions of series.hpp: merging.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/chain/merge_hook.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/run/series.hpp"
#include "cairn/run/series.ipp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

bool checkpoint_series::is_merge_due() const {
  const auto& every = options_.chain.merge_every;
  return every && base_.deltas_to_merge() >= *every;
}

merge_options checkpoint_series::how_to_merge(const merge_hooks& hooks) const {
  return {.deltas = options_.chain.merge_to_whole ? std::nullopt : std::optional(base_.deltas_to_merge()),
          .threads = options_.background_threads,
          .codecs = options_.codecs,
          .max_bytes = options_.max_staging_bytes,
          .check = hooks.check,
          .progress = hooks.progress};
}

/// The newest checkpoint has been replaced by its merged form.
merge_report checkpoint_series::merged(merge_report report) {
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
  return report;
}

/// Reports a merge that failed or was cancelled, and returns its error.
error checkpoint_series::merge_failed(const std::exception_ptr& cause) const {
  auto what = about(event::kind::failed, parse_checkpoint_name(base_.parent()->name).value_or(0));
  auto failure = as_error(cause, sentence({what.checkpoint, " cannot be merged"}));
  what.message = std::string(failure.sentence());
  what.code = failure.code();
  if (failure.code() != errc::cancelled) emit(what);
  return failure;
}

merge_report checkpoint_series::merge(const merge_hooks& hooks) {
  try {
    return merged(known_merge.load()->merge(store_, base_.parent()->name, how_to_merge(hooks)));
  } catch (...) {
    throw error(merge_failed(std::current_exception()));
  }
}

std::string checkpoint_series::begin_merge(const merge_hooks& hooks) {
  open_merge(hooks);
  return merge_->begin();
}

void checkpoint_series::join_merge(const merge_hooks& hooks, std::string_view begun) {
  open_merge(hooks);
  merge_->join(begun);
}

void checkpoint_series::open_merge(const merge_hooks& hooks) {
  merge_ = known_merge.load()->open_joint(
      store_, {.newest = *base_.parent(), .ranks = ranks_.size(), .rank = ranks_.rank(), .how = how_to_merge(hooks)});
}

void checkpoint_series::merge_share() { merge_->write_share(); }

merge_report checkpoint_series::publish_merge(std::span<const std::string> records) {
  auto report = merge_->publish(records);
  merge_.reset();
  return merged(std::move(report));
}

void checkpoint_series::merge_published(std::uint64_t bytes, bool is_whole) {
  const auto ended = std::move(merge_);
  merged(ended->published(bytes, is_whole));
}

error checkpoint_series::cancel_merge(const error& cause) {
  merge_.reset();
  return merge_failed(std::make_exception_ptr(cause));
}

}  // namespace cairn::inline v0_1::detail
