// SPDX-License-Identifier: MIT
// Definitions of series.hpp: the save of several ranks.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/save_pipeline.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/run/own_state.hpp"
#include "cairn/run/state_sum.hpp"
#include "cairn/run/series.hpp"
#include "cairn/run/series.ipp"
#include "cairn/store/shard_record.hpp"

namespace cairn::inline v0_1::detail {

/// errc::mismatch where the ranks would restore other checkpoints or other parts of them.
void checkpoint_series::require_same_restore(const load_options& options, std::string_view order) {
  if (ranks_.is_alone()) return;
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  auto text = "step " + (options.step ? std::to_string(*options.step) : "none") + ", strict " + number(options.strict) +
              ", convert " + number(options.convert) + ", sharing " + number(options.sharing);
  if (!order.empty()) text += ", best by " + std::string(order);
  ranks_.require_same("the options of the restore", text);
}

/// Before a restore by a group: takes the store from a former job, of which a rank may still be writing. Where nothing can be written, nobody does.
void checkpoint_series::fence() {
  if (ranks_.is_alone()) return;
  ranks_.all([&] {
    try {
      if (ranks_.is_leader()) own_store();
    } catch (const error& cause) {
      if (cause.code() != errc::io) throw;
    }
  });
}

std::string checkpoint_series::begin_together(std::shared_ptr<save_job> what, std::span<const piece> pieces) {
  running_ = std::make_unique<running_save>(std::move(what));
  return cancel_on_error([&] {
    auto& job = *running_->job;
    own_store();
    checkpoints_.make_way(job.info.step);
    set_hooks();
    auto& pipeline = running_->pipeline;
    pipeline.emplace(store_, job, rank_share{.ranks = ranks_.size(), .pieces = pieces}, &base_);
    const auto parent = pipeline->is_delta_allowed() ? to_hex(base_.parent()->id) : std::string();
    return parent + '/' + pipeline->begin();
  });
}

void checkpoint_series::join_together(std::shared_ptr<save_job> what, std::span<const piece> pieces,
                                      std::string_view begun) {
  running_ = std::make_unique<running_save>(std::move(what));
  cancel_on_error([&] {
    auto& job = *running_->job;
    const auto parent = begun.substr(0, begun.find('/'));
    set_hooks();
    const bool may_be_delta = base_.parent() && to_hex(base_.parent()->id) == parent;
    const rank_share share{ranks_.size(), ranks_.rank(), pieces, may_be_delta};
    running_->pipeline.emplace(store_, job, share, &base_);
    try {
      running_->pipeline->join(begun.substr(parent.size() + 1));
    } catch (const error& cause) {
      if (cause.code() != errc::not_found) throw;
      fail(errc::not_found,
           {cause.sentence(), ": this rank sees another place there than rank 0, or another job has taken it over"});
    }
  });
}

void checkpoint_series::add_share(std::vector<staged_piece> share) {
  const shards_of<staged_piece> shard{std::move(share)};
  cancel_on_error([&] { running_->pipeline->add(shard); });
}

std::string checkpoint_series::record_of_share() const {
  return merge_ ? merge_->record() : running_->pipeline->record();
}

void checkpoint_series::check_replicas(const save_job& job, std::span<const std::vector<std::uint64_t>> samples) {
  if (options_.replica_check == replica_check::off) return;
  const auto leaves = common_leaves(job);
  const auto difference = find_difference(leaves, sample_pieces(leaves, job.info.step), samples);
  if (difference.empty()) return;
  const auto text = "the ranks do not have the same state: " + difference;
  if (options_.replica_check == replica_check::refuse) fail(errc::mismatch, {text});
  auto what = about(event::kind::differing, job);
  what.message = text;
  emit(what);
}

save_report checkpoint_series::publish_together(std::span<const std::string> records, const division& pieces) {
  return published(cancel_on_error([&] {
    auto& pipeline = *running_->pipeline;
    const auto& job = *running_->job;
    std::vector<std::uint64_t> own_bytes(1);
    std::vector<std::vector<std::uint64_t>> samples{job.sample};
    for (std::size_t rank = 1; rank < records.size(); ++rank) {
      auto written = pipeline.add_written(records[rank], pieces[rank]);
      own_bytes.push_back(written.own_bytes);
      samples.push_back(std::move(written.sample));
    }
    check_replicas(job, samples);
    outcome_ = pipeline.stored_bytes();
    const auto first_own = outcome_.begin() + static_cast<std::ptrdiff_t>(job.common_leaves);
    own_bytes.front() = std::accumulate(first_own, outcome_.end(), std::uint64_t{0});
    outcome_.erase(first_own, outcome_.end());
    outcome_.insert(outcome_.end(), own_bytes.begin(), own_bytes.end());
    auto report = pipeline.finish();
    losses_ = report.lost.empty() ? std::string() : write_losses(report.lost);
    outcome_.insert(outcome_.end(), {pipeline.id(), report.is_delta, losses_.size()});
    return report;
  }));
}

published_by_leader checkpoint_series::share_outcome(const save_job& job, share_planner& shares, std::uint64_t bytes) {
  constexpr std::size_t others = 3;
  std::vector<std::uint64_t> numbers(job.common_leaves + ranks_.size() + others);
  if (ranks_.is_leader()) numbers = std::move(outcome_);
  const auto memory = std::as_writable_bytes(std::span(numbers));
  const std::string_view own(reinterpret_cast<const char*>(memory.data()), ranks_.is_leader() ? memory.size() : 0);
  const auto text = ranks_.broadcast(own, 0, memory.size());
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(memory.data()));
  const auto* const last = numbers.data() + numbers.size() - others;
  published_by_leader what{bytes, last[0], last[1] != 0};
  if (last[2] != 0) what.lost = read_losses(ranks_.broadcast(losses_, 0, last[2]), "the losses from rank 0");
  losses_.clear();
  numbers.resize(numbers.size() - others);
  shares.saved(job, std::move(numbers));
  return what;
}

save_report checkpoint_series::published_together(const published_by_leader& what) {
  return published(running_->pipeline->published(what));
}

save_report checkpoint_series::save_together(std::shared_ptr<save_job> job, const plan::partition& plan,
                                             share_planner& shares) {
  try {
    const auto share = share_of(*job, plan, ranks_.rank());
    const auto begun = ranks_.from_leader([&] { return begin_together(job, share); });
    ranks_.all([&] {
      if (!ranks_.is_leader()) join_together(job, share, begun);
      add_share(from_leaves<staged_piece>({share}).front());
    });
    const auto records = ranks_.gather(record_of_share());
    save_report report;
    const auto bytes = ranks_.from_leader([&] {
      report = publish_together(records, plan.pieces());
      return report.bytes;
    });
    const auto outcome = share_outcome(*job, shares, bytes);
    return ranks_.is_leader() ? report : published_together(outcome);
  } catch (const error& cause) {
    throw error(cancel_together(*job, cause));
  }
}

error checkpoint_series::cancel_together(const save_job& job, const error& cause) {
  if (running_ && running_->pipeline) checkpoints_.failed(job);
  cancel();
  const bool is_reported = std::exchange(is_failure_reported_, false);
  return failed(about(event::kind::failed, job), std::make_exception_ptr(cause), is_reported);
}

}  // namespace cairn::inline v0_1::detail
