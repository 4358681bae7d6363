// SPDX-License-Identifier: MIT
// Definitions of series.hpp: what is published, and merged afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/merge_hook.hpp"
#include "cairn/chain/save_pipeline.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/series.hpp"
#include "cairn/run/series.ipp"
#include "cairn/store/index.hpp"
#include "cairn/store/index_only.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard_record.hpp"
#include "cairn/store/writer.hpp"

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

/// Whether all files that `index` lists are there and have their sizes.
[[nodiscard]] inline bool has_files(const any_store& store, std::string_view name, const checkpoint_index& index) {
  return std::all_of(index.shards.begin(), index.shards.end(),
                     [&](const index_shard& each) { return store.open(name, each.file)->size() == each.bytes; });
}

/// The index of the checkpoint that the run has saved or restored last, if it is whole and of the step of `job`, and says all that `job` does.
std::optional<checkpoint_index> checkpoint_series::find_candidate(const save_job& job) {
  if (!checkpoints_.has_run_at(job.info.step)) return std::nullopt;
  try {
    own_store();
  } catch (...) {  // a second attempt would not see a sync that has failed
    throw error(failed(about(event::kind::failed, job), std::current_exception()));
  }
  try {
    if (checkpoints_.newest_step() != job.info.step) return std::nullopt;
    auto index = read_index(store_, job.name, index_part::all);
    if (index.parent || !says_all(index.info, job.info) || !has_files(store_, job.name, index)) return std::nullopt;
    return index;
  } catch (const error&) {  // the save will report it
    return std::nullopt;
  }
}

/// Finishes a save of `pipeline` to `published`, and compares what it would publish with a published checkpoint.
inline std::optional<save_report> finish_and_compare(save_pipeline& pipeline,
                                                     const stores::detail::index_only& published,
                                                     const checkpoint_index& index) {
  auto report = pipeline.finish();
  auto same = parse_index(published.text(), report.path);
  same.info = index.info;
  const auto text = write_index(index);
  report.bytes += text.size() - published.text().size();
  return write_index(same) == text ? std::optional(std::move(report)) : std::nullopt;
}

std::optional<save_report> checkpoint_series::find_published(const save_job& job) {
  const auto index = find_candidate(job);
  if (!index) return std::nullopt;
  try {
    auto pieces = divide_evenly(job.what.leaves, options_.shards);
    if (pieces.size() != index->shards.size()) pieces = divide_evenly(job.what.leaves, index->shards.size());
    const stores::detail::index_only published(store_.location());
    any_store compared = published;
    save_pipeline pipeline(compared, job, pieces.size());
    pipeline.add(from_leaves<staged_piece>(pieces));
    return finish_and_compare(pipeline, published, *index);
  } catch (const error&) {  // the save will report it
    return std::nullopt;
  }
}

/// What each shard of a checkpoint has of the leaves that all ranks have. Nothing if the checkpoint has other leaves, or not a shard for each rank.
inline std::optional<division> find_shares(const checkpoint_index& index, const save_job& job, std::size_t ranks) {
  if (index.shards.size() != ranks) return std::nullopt;
  division shares(ranks);
  for (std::size_t number = 0; number < job.common_leaves; ++number) {
    const auto& wanted = job.what.leaves[number];
    const auto at = std::lower_bound(index.leaves.begin(), index.leaves.end(), wanted.path,
                                     [](const stored_leaf& each, const std::string& path) { return each.path < path; });
    if (at == index.leaves.end() || at->path != wanted.path || at->shape != wanted.shape) return std::nullopt;
    const auto& layout = index.storage[static_cast<std::size_t>(at - index.leaves.begin())].layout;
    bool has_boxes = false;
    for_each_piece(layout, wanted.shape, [&](const placed_piece& each) {
      has_boxes = has_boxes || each.region;
      shares[each.shard].push_back({number, each.first, each.count});
    });
    if (has_boxes) return std::nullopt;
  }
  return shares;
}

/// What the save of one rank would write, to compare it with a published checkpoint.
struct checkpoint_series::compared_share {
  compared_share(const any_store& store, const save_job& job, const std::string& name, const team& ranks)
      : published(store.location()), compared(published), index(read_index(store, name, index_part::all)) {
    const auto all = find_shares(index, job, ranks.size());
    if (!all) return;
    shares = *all;
    auto& own = shares[ranks.rank()];
    for (auto leaf = job.common_leaves; leaf < job.what.leaves.size(); ++leaf)
      own.push_back({leaf, 0, job.what.leaves[leaf].count()});
    const rank_share share{.ranks = ranks.size(), .rank = ranks.rank(), .pieces = own};
    pipeline.emplace(compared, job, share, nullptr);
    pipeline->add(from_leaves<staged_piece>({own}));
    record = pipeline->record();
  }

  stores::detail::index_only published;
  any_store compared;
  checkpoint_index index;
  division shares;
  std::optional<save_pipeline> pipeline;
  std::string record;  // empty: the checkpoint is another one
};

std::optional<save_report> checkpoint_series::find_published_together(const save_job& job) {
  const auto name = ranks_.from_leader([&] { return find_candidate(job) ? job.name : std::string(); });
  if (name.empty()) return std::nullopt;
  std::unique_ptr<compared_share> own;
  ranks_.all([&] {
    try {
      own = std::make_unique<compared_share>(store_, job, name, ranks_);
    } catch (const error&) {  // the save will report it
      own.reset();
    }
  });
  const auto have_share = ranks_.all_gather(own && !own->record.empty());
  if (std::count(have_share.begin(), have_share.end(), std::uint64_t{0}) != 0) return std::nullopt;
  const auto records = ranks_.gather(own->record);
  std::optional<save_report> report;
  const auto bytes = ranks_.from_leader([&]() -> std::optional<std::uint64_t> {
    try {
      for (std::size_t rank = 1; rank < records.size(); ++rank)
        static_cast<void>(own->pipeline->add_written(records[rank], own->shares[rank]));
      report = finish_and_compare(*own->pipeline, own->published, own->index);
    } catch (const error&) {  // as above
    }
    if (!report) return std::nullopt;
    return report->bytes;
  });
  if (!bytes) return std::nullopt;
  const auto lost = ranks_.from_leader([&] { return write_losses(report->lost); });
  if (ranks_.is_leader()) return report;
  report = own->pipeline->published({.bytes = *bytes, .lost = read_losses(lost, "the losses from rank 0")});
  report->path = store_.location() + "/" + name;
  return report;
}

void checkpoint_series::note_end(const save_job& job) {
  if (!policy_driver::say_end(job.info.notes)) return;
  try {
    auto index = read_index(store_, job.name, index_part::all);
    if (policy_driver::say_end(index.info.notes)) return;
    index.info.notes = job.info.notes;
    replace_index(store_, job.name, index);
  } catch (...) {
    static_cast<void>(failed(about(event::kind::failed, job), std::current_exception()));
  }
}

}  // namespace cairn::inline v0_1::detail
