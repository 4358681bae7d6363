// SPDX-License-Identifier: MIT
// Definitions of save_pipeline.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/chain/encoded_piece.hpp"
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/chain/save_pipeline.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// Reads the references of the base from its newest checkpoint: those of the pieces, or of all leaves. Returns why that cannot be done; empty: it is
/// done.
inline std::string read_references(const any_store& store, const save_job& job, const leaf_codecs& codecs,
                                   delta_base& base, const std::optional<std::span<const piece>>& pieces) {
  try {
    const chain_reader reader(store, base.parent()->name, job.codecs);
    if (reader.newest().id() != base.parent()->id) return base.parent()->name + " has been replaced";
    std::vector<piece> all;
    for (std::size_t leaf = 0; !pieces && leaf < job.what.leaves.size(); ++leaf)
      all.push_back({leaf, 0, job.what.leaves[leaf].count()});
    std::vector<read_request> requests;
    for (const auto& each : pieces.value_or(all)) {
      const auto& leaf = job.what.leaves[each.leaf];
      const auto index = codecs[each.leaf].uses_parent() ? reader.contents().find(leaf.path) : catalog::npos;
      if (index == catalog::npos) continue;
      const auto& stored = reader.contents().leaves[index];
      if (stored.type != leaf.type || stored.shape != leaf.shape) continue;
      auto& made = base.make(leaf.path, leaf.type, leaf.shape);
      made.first = each.first;
      made.end = each.first + each.count;
      auto* const memory = made.values.bytes().data() + each.first * size_of(leaf.type);
      requests.push_back({index, {leaf.type, {each.count}, memory, {}}, std::nullopt, each.first});
    }
    reader.read(requests, {.threads = job.threads});
    base.tables() = reader.tables();
    base.follow();
    return {};
  } catch (const error& cause) {
    return std::string(cause.sentence());
  }
}

/// Decides whether the checkpoint can be a delta. If so, the base then has the references of its parent; else it has none.
inline bool begin_delta(const any_store& store, const save_job& job, const leaf_codecs& codecs, delta_base* base,
                        const std::optional<rank_share>& share) {
  if (base == nullptr) return false;
  std::optional<std::span<const piece>> pieces;
  if (share) pieces = share->pieces;
  const bool is_leader = !share || share->rank == 0;  // the others rely on it
  if ((!share || share->may_be_delta) && codecs.use_parent() && base->can_extend(job.info.step, job.chain)) {
    std::string fault;
    if (is_leader && !is_published(store, *base->parent()))
      fault = base->parent()->name + " is not there any more";
    else if (!base->has_references())
      fault = read_references(store, job, codecs, *base, pieces);
    if (fault.empty()) return true;
    if (job.hooks.anchored) job.hooks.anchored("a delta cannot be built on its parent: " + fault);
  }
  base->forget();
  return false;
}

/// Seconds that `act` takes.
template <class Act>
double timed(const Act& act) {
  const stopwatch watch;
  act();
  return watch.seconds();
}

/// One save. `encode` and `write` are called in turn, for all shards at once or for a few at a time; then `publish`.
struct save_pipeline::stages {
  /// `all` shards; with a `share`, one of them.
  stages(any_store& store, const save_job& what, std::size_t all, delta_base* base_of_delta,
         const std::optional<rank_share>& share = {})
      : job(what),
        base(base_of_delta),
        codecs(what.what.leaves, what.codecs),
        as_delta(begin_delta(store, what, codecs, base, share)),
        shards(share ? 1 : all),
        pending_bytes(what.state_bytes()),
        spec{.leaves = what.what.leaves,
             .shards = {},
             .structure = what.what.structure,
             .info = what.info,
             .restored = what.restored,
             .threads = what.threads,
             .on_progress = what.hooks.progress},
        encoder(spec.leaves, codecs, base, as_delta, what.threads, what.hooks.check),
        writer(store, what.name, spec, all, share ? share->rank : 0) {
    report.path = store.location() + "/" + what.name;
    report.leaves = spec.leaves.size();
    report.state_bytes = pending_bytes;
    report.unmatched_rules = codecs.unmatched_rules();
  }

  /// 1. Encodes. After the last shard the losses are known, and whether the checkpoint is a delta.
  [[nodiscard]] shards_of<encoded_piece> encode(std::span<const std::vector<staged_piece>> next) {
    shards_of<encoded_piece> encoded;
    report.encode_seconds += timed([&] { encoded = encoder.encode(next); });
    for (const auto& shard : encoded)
      for (const auto& each : shard) {
        const auto& whole = spec.leaves[each.leaf];
        pending_bytes -= each.count * size_of(whole.type);
        encoded_bytes += each.stored_bytes(whole);
      }
    added += next.size();
    if (added < shards) return encoded;
    const auto summary = encoder.finish();
    report.is_delta = summary.is_delta;
    for (const auto& [path, lost] : summary.lost) {
      auto& worst = report.lost[path];
      worst = worse(worst, lost);
    }
    if (job.hooks.encoded) job.hooks.encoded(encoded_bytes, report.encode_seconds);
    return encoded;
  }

  /// 2. Writes.
  void write(std::span<const std::vector<encoded_piece>> next) {
    report.write_seconds += timed([&] { writer.add(for_writer(next), pending_bytes); });
  }

  /// 3. Publishes.
  void publish() {
    const auto parent = report.is_delta ? base->parent() : std::nullopt;
    if (parent) report.parent = parent->name;
    if (job.hooks.written) job.hooks.written(writer.bytes(), report.write_seconds);
    if (job.hooks.check) job.hooks.check();
    written_checkpoint written;
    report.write_seconds += timed([&] { written = writer.commit(parent); });
    report.bytes = written.bytes;
    set_published(written.id);
    report.seconds = watch.seconds();
  }

  void set_published(std::uint64_t checkpoint_id) {
    id = checkpoint_id;
    if (base != nullptr) base->published({job.name, id}, job.info.step, report.is_delta, codecs.use_parent());
    is_published = true;
  }

  stopwatch watch;
  const save_job& job;
  delta_base* base;
  leaf_codecs codecs;
  bool as_delta;
  std::size_t shards, added = 0;
  std::uint64_t pending_bytes, encoded_bytes = 0;
  save_report report{};
  bool is_published = false;
  std::uint64_t id = 0;  // of the published checkpoint
  checkpoint_spec spec;
  leaf_encoder encoder;
  checkpoint_writer writer;
};

save_pipeline::save_pipeline(any_store& store, const save_job& job, std::size_t shards, delta_base* base)
    : self_(std::make_unique<stages>(store, job, shards, base)) {}

save_pipeline::save_pipeline(any_store& store, const save_job& job, const rank_share& share, delta_base* base)
    : self_(std::make_unique<stages>(store, job, share.ranks, base, share)) {}

/// After a failure the references of the base may differ from what a reader has.
save_pipeline::~save_pipeline() {
  if (self_->base != nullptr && !self_->is_published) self_->base->forget();
}

void save_pipeline::add(std::span<const std::vector<staged_piece>> shards) { self_->write(self_->encode(shards)); }

std::string save_pipeline::begin() { return self_->writer.begin(); }

void save_pipeline::join(std::string_view attempt) { self_->writer.join(attempt); }

std::string save_pipeline::record() const {
  auto record = self_->writer.record(self_->job.common_leaves, self_->job.own_structure);
  record.sample = self_->job.sample;
  return write_shard_record(record);
}

written_share save_pipeline::add_written(std::string_view record, std::span<const piece> pieces) {
  const auto origin = self_->report.path + ": the record of a rank";
  auto written = read_shard_record(record, origin);
  const auto common = self_->job.common_leaves;
  for (const auto& [leaf, how] : written.encoded) {
    if (leaf >= common + written.own.size()) fail(errc::corrupt, {origin, ": there is no leaf ", leaf});
    self_->report.is_delta = self_->report.is_delta || how.relative;
    if (!how.lost) continue;
    auto& worst = self_->report.lost[leaf < common ? self_->spec.leaves[leaf].path : written.own[leaf - common].path];
    worst = worse(worst, *how.lost);
  }
  const auto own_bytes = self_->writer.add_written(written, common, pieces);
  return {own_bytes, std::move(written.sample)};
}

std::vector<std::uint64_t> save_pipeline::stored_bytes() const { return self_->writer.stored_bytes(); }

bool save_pipeline::is_delta_allowed() const noexcept { return self_->as_delta; }

std::uint64_t save_pipeline::id() const noexcept { return self_->id; }

save_report save_pipeline::published(const published_by_leader& what) {
  auto& report = self_->report;
  report.is_delta = what.is_delta;
  if (what.is_delta) report.parent = self_->base->parent()->name;
  report.bytes = what.bytes;
  report.lost = what.lost;
  self_->set_published(what.id);
  report.seconds = self_->watch.seconds();
  return std::move(report);
}

save_report save_pipeline::finish() {
  self_->publish();
  return std::move(self_->report);
}

save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards, delta_base* base) {
  const auto pieces = from_leaves<staged_piece>(divide_evenly(job.what.leaves, shards));
  save_pipeline pipeline(store, job, pieces.size(), base);
  pipeline.add(pieces);
  return pipeline.finish();
}

}  // namespace cairn::inline v0_1::detail
