// Definitions of series.hpp: the save of several ranks.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/save_pipeline.hpp"
#include "cairn/run/series.hpp"
#include "cairn/run/series.ipp"

namespace cairn::detail {

CAIRN_INLINE std::string checkpoint_series::begin_together(std::shared_ptr<save_job> what, std::size_t ranks) {
  running_ = std::make_unique<running_save>(std::move(what));
  return cancel_on_error([&] {
    auto& job = *running_->job;
    own_store();
    job.name = checkpoints_.make_way(job.info.step);
    set_hooks();
    running_->pipeline.emplace(store_, job, ranks, 0, 1);
    return job.name + '/' + running_->pipeline->begin();
  });
}

CAIRN_INLINE void checkpoint_series::join_together(std::shared_ptr<save_job> what, std::size_t ranks, std::size_t rank,
                                                   std::string_view begun) {
  running_ = std::make_unique<running_save>(std::move(what));
  cancel_on_error([&] {
    auto& job = *running_->job;
    const auto slash = begun.rfind('/');
    job.name = begun.substr(0, slash);
    set_hooks();
    running_->pipeline.emplace(store_, job, ranks, rank, 1);
    running_->pipeline->join(begun.substr(slash + 1));
  });
}

CAIRN_INLINE void checkpoint_series::add_share(std::vector<staged_piece> share) {
  const shards_of<staged_piece> shard{std::move(share)};
  cancel_on_error([&] { running_->pipeline->add(shard); });
}

CAIRN_INLINE std::string checkpoint_series::record_of_share() const { return running_->pipeline->record(); }

CAIRN_INLINE save_report checkpoint_series::publish_together(std::span<const std::string> records,
                                                             const division& pieces) {
  return published(cancel_on_error([&] {
    auto& pipeline = *running_->pipeline;
    const auto& job = *running_->job;
    std::vector<std::uint64_t> own_bytes(1);
    for (std::size_t rank = 1; rank < records.size(); ++rank)
      own_bytes.push_back(pipeline.add_written(records[rank], pieces[rank]));
    stored_bytes_ = pipeline.stored_bytes();
    const auto first_own = stored_bytes_.begin() + static_cast<std::ptrdiff_t>(job.common_leaves);
    own_bytes.front() = std::accumulate(first_own, stored_bytes_.end(), std::uint64_t{0});
    stored_bytes_.erase(first_own, stored_bytes_.end());
    stored_bytes_.insert(stored_bytes_.end(), own_bytes.begin(), own_bytes.end());
    auto report = pipeline.finish();
    base_.clear();
    return report;
  }));
}

CAIRN_INLINE save_report checkpoint_series::published_together(std::uint64_t bytes) {
  auto report = running_->pipeline->own_report();
  report.bytes = bytes;
  base_.clear();
  return published(std::move(report));
}

CAIRN_INLINE void checkpoint_series::share_stored_bytes(const save_job& job, share_planner& shares) {
  std::vector<std::uint64_t> bytes(job.common_leaves + ranks_.size());
  if (ranks_.is_leader()) bytes = std::move(stored_bytes_);
  const auto memory = std::as_writable_bytes(std::span(bytes));
  const std::string_view own(reinterpret_cast<const char*>(memory.data()), ranks_.is_leader() ? memory.size() : 0);
  const auto text = ranks_.broadcast(own, 0, memory.size());
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(memory.data()));
  shares.saved(job, std::move(bytes));
}

CAIRN_INLINE save_report checkpoint_series::save_together(std::shared_ptr<save_job> job, share_planner& shares) {
  const auto rank = ranks_.rank(), size = ranks_.size();
  try {
    const auto plan = shares.plan_for(*job);
    const auto begun = ranks_.from_leader([&] { return begin_together(job, size); });
    ranks_.all([&] {
      if (!ranks_.is_leader()) join_together(job, size, rank, begun);
      add_share(from_leaves<staged_piece>({share_of(*job, plan, rank)}).front());
    });
    const auto records = ranks_.gather(record_of_share());
    save_report report;
    const auto bytes = ranks_.from_leader([&] {
      report = publish_together(records, plan.pieces());
      return std::to_string(report.bytes);
    });
    if (!ranks_.is_leader()) report = published_together(std::stoull(bytes));
    share_stored_bytes(*job, shares);
    return report;
  } catch (const error& cause) {
    throw error(cancel_together(cause));
  }
}

CAIRN_INLINE error checkpoint_series::cancel_together(const error& cause) {
  if (!running_) return cause;
  const auto what = about(event::kind::failed, *running_->job);
  if (running_->pipeline) checkpoints_.failed(*running_->job);
  cancel();
  return failed(what, std::make_exception_ptr(cause));
}

}  // namespace cairn::detail
