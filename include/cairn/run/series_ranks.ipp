// Definitions of series.hpp: the save of several ranks.
#pragma once

#include <string>
#include <utility>

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
    for (std::size_t rank = 1; rank < records.size(); ++rank)
      running_->pipeline->add_written(records[rank], std::span(pieces).subspan(rank, 1));
    auto report = running_->pipeline->finish();
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

CAIRN_INLINE save_report checkpoint_series::save_together(std::shared_ptr<save_job> job) {
  const auto pieces = divide_evenly(job->what.leaves, ranks_.size());
  try {
    const auto begun = ranks_.from_leader([&] { return begin_together(job, ranks_.size()); });
    ranks_.all([&] {
      if (!ranks_.is_leader()) join_together(job, ranks_.size(), ranks_.rank(), begun);
      add_share(from_leaves<staged_piece>({pieces[ranks_.rank()]}).front());
    });
    const auto records = ranks_.gather(record_of_share());
    save_report report;
    const auto bytes = ranks_.from_leader([&] {
      report = publish_together(records, pieces);
      return std::to_string(report.bytes);
    });
    return ranks_.is_leader() ? report : published_together(std::stoull(bytes));
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
