// Definitions of save_pipeline.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/chain/save_pipeline.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::detail {

/// Fills the base's references with what a reader has of its newest checkpoint. False when that cannot be read any more.
inline bool read_references(const any_store& store, const save_job& job, delta_base& base) {
  try {
    const chain_reader reader(store, base.parent()->name, job.codecs);
    if (reader.newest().id() != base.parent()->id) return false;
    std::vector<read_request> requests;
    for (const auto& each : job.what.leaves) {
      if (!codec_for(each.path, job.codecs).uses_parent()) continue;
      const auto index = reader.contents().find(each.path);
      if (index == catalog::npos) continue;
      const auto& stored = reader.contents().leaves[index];
      if (stored.type != each.type || stored.shape != each.shape) continue;
      const auto memory = base.make(each.path, each.type, each.shape).values.bytes();
      requests.push_back({index, {each.type, each.shape, memory.data(), {}}});
    }
    reader.read(requests, {.threads = job.threads});
    base.tables() = reader.tables();
    return true;
  } catch (const error&) {
    return false;
  }
}

/// Is the base's newest checkpoint still what it was? Others may have removed or replaced it.
inline bool has_parent(const any_store& store, const delta_base& base) {
  try {
    return checkpoint_id(read_index(store, base.parent()->name)) == base.parent()->id;
  } catch (const error&) {
    return false;
  }
}

/// Whether the next checkpoint is to be a delta; the base's references are then those of its parent, else there are none.
inline bool begin_delta(const any_store& store, const save_job& job, delta_base* base) {
  if (base == nullptr) return false;
  const auto& leaves = job.what.leaves;
  const bool uses_parent = std::any_of(
      leaves.begin(), leaves.end(), [&](const leaf& each) { return codec_for(each.path, job.codecs).uses_parent(); });
  if (uses_parent && base->can_extend(job.info.step, job.chain) && has_parent(store, *base) &&
      (base->has_references() || read_references(store, job, *base)))
    return true;
  base->forget();
  return false;
}

/// Bytes that pieces take in their files.
inline std::uint64_t stored_bytes(std::span<const leaf> leaves, std::span<const std::vector<piece>> shards) {
  std::uint64_t bytes = 0;
  for (const auto& shard : shards)
    for (const auto& each : shard)
      bytes += each.encoded ? each.encoded->payload.bytes() : each.count * size_of(leaves[each.leaf].type);
  return bytes;
}

/// Seconds that `act` takes.
template <class Act>
double timed(const Act& act) {
  const stopwatch watch;
  act();
  return watch.seconds();
}

struct save_pipeline::stages {
  stages(any_store& store, const save_job& what, std::size_t count, delta_base* chain)
      : job(what),
        base(chain),
        as_delta(begin_delta(store, what, chain)),
        shards(count),
        pending_bytes(what.state_bytes()),
        spec{.leaves = what.what.leaves,
             .shards = {},
             .structures = {what.what.structure},
             .step = what.info.step,
             .metrics = what.info.metrics,
             .notes = what.info.notes,
             .threads = what.threads,
             .on_progress = what.hooks.progress},
        encoder(spec.leaves, what.codecs, chain, as_delta, what.threads, what.hooks.check),
        writer(store, what.name, spec, count) {
    report.path = store.location() + "/" + what.name;
    report.leaves = spec.leaves.size();
    report.state_bytes = pending_bytes;
    report.unmatched_rules = unmatched_rules(what.codecs, spec.leaves);
  }

  /// 1. Encodes: after the last shard it is known what was lost, and whether the checkpoint is a delta.
  void encode(std::span<std::vector<piece>> some) {
    pending_bytes -= stored_bytes(spec.leaves, some);
    report.encode_seconds += timed([&] { encoder.encode(some); });
    encoded_bytes += stored_bytes(spec.leaves, some);
    metadata.tables = encoder.take_tables();
    if (added + some.size() < shards) return;
    auto encoded = encoder.finish();
    report.is_delta = encoded.is_delta;
    for (const auto& [path, lost] : encoded.lost) {
      auto& worst = report.lost[path];
      worst = worse(worst, lost);
    }
    if (job.hooks.encoded) job.hooks.encoded(encoded_bytes, report.encode_seconds);
  }

  /// 2. Writes. A shard that is written before all are encoded names the parent in case that a later piece needs it.
  void write(std::span<std::vector<piece>> some) {
    const bool all_at_once = some.size() == shards;
    if (all_at_once ? report.is_delta : as_delta) metadata.parent = base->parent();
    report.write_seconds += timed([&] { writer.add(some, metadata, pending_bytes); });
    added += some.size();
    if (all_at_once) return;
    for (auto& shard : some)
      for (auto& each : shard) each.encoded.reset();
  }

  /// 3. Publishes.
  void publish() {
    report.is_delta = metadata.parent.has_value();
    if (metadata.parent) report.parent = metadata.parent->name;
    if (job.hooks.written) job.hooks.written(writer.bytes(), report.write_seconds);
    if (job.hooks.check) job.hooks.check();
    written_checkpoint written;
    report.write_seconds += timed([&] { written = writer.commit(); });
    report.bytes = written.bytes;
    if (base != nullptr) base->published({job.name, written.id}, job.info.step, report.is_delta);
    is_published = true;
    report.seconds = watch.seconds();
  }

  stopwatch watch;
  const save_job& job;
  delta_base* base;
  bool as_delta;
  std::size_t shards, added = 0;
  std::uint64_t pending_bytes, encoded_bytes = 0;
  chain_metadata metadata{};
  save_report report{};
  bool is_published = false;
  checkpoint_spec spec;
  leaf_encoder encoder;
  checkpoint_writer writer;
};

CAIRN_INLINE save_pipeline::save_pipeline(any_store& store, const save_job& job, std::size_t shards, delta_base* base)
    : self_(std::make_unique<stages>(store, job, shards, base)) {}

/// After a failure the base may not be what a reader has.
CAIRN_INLINE save_pipeline::~save_pipeline() {
  if (self_->base != nullptr && !self_->is_published) self_->base->forget();
}

CAIRN_INLINE void save_pipeline::add(std::span<std::vector<piece>> shards) {
  self_->encode(shards);
  self_->write(shards);
}

CAIRN_INLINE save_report save_pipeline::finish() {
  self_->publish();
  return std::move(self_->report);
}

CAIRN_INLINE save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards, delta_base* base) {
  auto pieces = divide_evenly(job.what.leaves, shards);
  save_pipeline pipeline(store, job, pieces.size(), base);
  pipeline.add(pieces);
  return pipeline.finish();
}

}  // namespace cairn::detail
