// Definitions of series.hpp: the save of several ranks.
#pragma once

#include <string>
#include <utility>

#include "cairn/chain/save_pipeline.hpp"
#include "cairn/run/series.hpp"
#include "cairn/run/series.ipp"

namespace cairn::detail {

/// A save of all ranks. The share of each is one shard.
CAIRN_INLINE save_report checkpoint_series::save_together(std::shared_ptr<save_job> what) {
  running_ = std::make_unique<running_save>(std::move(what));
  return published(cancel_on_error([&] {
    auto& job = *running_->job;
    auto& pipeline = running_->pipeline;
    const std::size_t shards = ranks_.size();
    const auto pieces = divide_evenly(job.what.leaves, shards);
    const auto share_of = [&](std::size_t rank) { return std::span(pieces).subspan(rank, 1); };

    // 1. The leader begins the checkpoint; the others join it.
    const auto begun = ranks_.from_leader([&] {
      own_store();
      job.name = checkpoints_.make_way(job.info.step);
      set_hooks();
      pipeline.emplace(store_, job, shards, 0, 1);
      const auto attempt = pipeline->begin();
      return job.name + '/' + attempt;
    });

    // 2. Each rank encodes and writes its share.
    ranks_.all([&] {
      if (!ranks_.is_leader()) {
        const auto slash = begun.rfind('/');
        job.name = begun.substr(0, slash);
        set_hooks();
        pipeline.emplace(store_, job, shards, ranks_.rank(), 1);
        pipeline->join(begun.substr(slash + 1));
      }
      pipeline->add(from_leaves<staged_piece>({pieces[ranks_.rank()]}));
    });

    // 3. The leader lists all shards in the index, and publishes.
    const auto records = ranks_.gather(pipeline->record());
    save_report report;
    const auto numbers = ranks_.from_leader([&] {
      for (std::size_t rank = 1; rank < shards; ++rank) pipeline->add_written(records[rank], share_of(rank));
      report = pipeline->finish();
      return std::to_string(report.bytes);
    });
    if (!ranks_.is_leader()) {
      report = pipeline->own_report();
      report.bytes = std::stoull(numbers);
    }
    base_.clear();
    return report;
  }));
}

}  // namespace cairn::detail
