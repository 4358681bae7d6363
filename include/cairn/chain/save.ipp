// Definitions of save.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cairn/chain/reader.hpp"
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/paths.hpp"
#include "cairn/system/posix.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::detail {

/// Fills the chain's references with what a reader has of its newest checkpoint. False when that cannot be read any more.
inline bool read_references(const any_store& store, std::span<const leaf> leaves, const save_options& options,
                            delta_base& chain) {
  try {
    const chain_reader reader(store, chain.parent()->name, options.codecs);
    if (reader.newest().id() != chain.parent()->id) return false;
    std::vector<read_request> requests;
    for (const auto& each : leaves) {
      if (!codec_of_rule(rule_for(each.path, options.codecs), options.codecs).uses_parent()) continue;
      const auto index = reader.contents().find(each.path);
      if (index == catalog::npos) continue;
      const auto& stored = reader.contents().leaves[index];
      if (stored.type != each.type || stored.shape != each.shape) continue;
      const auto memory = chain.make(each.path, each.type, each.shape).values.bytes();
      requests.push_back({index, {each.type, each.shape, memory.data(), {}}});
    }
    reader.read(requests, {.threads = options.threads});
    chain.tables() = reader.tables();
    return true;
  } catch (const error&) {
    return false;
  }
}

/// Is the chain's newest checkpoint still what it was? Others may have removed or replaced it.
inline bool has_parent(const any_store& store, const delta_base& chain) {
  try {
    return checkpoint_id(read_index(store, chain.parent()->name)) == chain.parent()->id;
  } catch (const error&) {
    return false;
  }
}

/// Whether the next checkpoint is to be a delta; the chain's references are then those of its parent, else there are none.
inline bool begin_delta(const any_store& store, std::span<const leaf> leaves, const save_options& options,
                        const chain_link& link) {
  if (link.chain == nullptr) return false;
  auto& chain = *link.chain;
  const bool uses_parent = std::any_of(leaves.begin(), leaves.end(), [&](const leaf& each) {
    return codec_of_rule(rule_for(each.path, options.codecs), options.codecs).uses_parent();
  });
  if (uses_parent && chain.can_extend(options.step, link.options) && has_parent(store, chain) &&
      (chain.has_references() || read_references(store, leaves, options, chain)))
    return true;
  chain.forget();
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

/// One save on its way: stages, encodes and writes shards, all at once or one after the other, and publishes.
class save_in_flight {
 public:
  save_in_flight(any_store& store, const std::string& name, const description& what, const save_options& options,
                 save_steps& steps, const chain_link& link)
      : name_(name),
        what_(what),
        steps_(steps),
        link_(link),
        as_delta_(begin_delta(store, what.leaves, options, link)) {
    if (steps.shards.empty()) steps.shards = divide_evenly(what.leaves, options.shards);
    spec_.leaves = what.leaves;
    spec_.structures = {what.facts};
    spec_.step = options.step;
    spec_.metrics = options.metrics;
    spec_.notes = std::move(steps.notes);
    spec_.threads = options.threads;
    spec_.on_progress = steps.progress;
    encoder_.emplace(what.leaves, options.codecs, link.chain, as_delta_, options.threads, steps.check);
    writer_.emplace(store, name, spec_, steps.shards.size());
  }

  /// Fills in the report, but for the path and the time of all.
  void run(save_report& report) {
    const std::span<std::vector<piece>> shards = steps_.shards;
    const std::size_t at_once = steps_.stage ? 1 : shards.size();
    std::uint64_t later = report.state_bytes, encoded = 0;
    chain_metadata ties;
    for (std::size_t i = 0; i < shards.size(); i += at_once) {
      const auto some = shards.subspan(i, at_once);
      if (steps_.stage) steps_.stage(some.front(), i + 1 == shards.size());
      later -= stored_bytes(what_.leaves, some);
      report.encode_seconds += timed([&] { encoder_->encode(some); });
      encoded += stored_bytes(what_.leaves, some);
      ties.tables = encoder_->take_tables();
      if (i + at_once >= shards.size()) finish_encoding(report, encoded);
      // Whether anything is relative is known at the end only: a shard that is written before that says that it may be.
      if (steps_.stage ? as_delta_ : report.is_delta) ties.parent = link_.chain->parent();
      report.write_seconds += timed([&] { writer_->add(some, ties, later); });
      for (auto& each : some.front())
        if (steps_.stage) each.encoded.reset();
    }
    report.is_delta = ties.parent.has_value();
    if (ties.parent) report.parent = ties.parent->name;
    if (steps_.written) steps_.written(writer_->bytes(), report.write_seconds);
    if (steps_.check) steps_.check();
    written_checkpoint written;
    report.write_seconds += timed([&] { written = writer_->commit(); });
    report.bytes = written.bytes;
    if (link_.chain != nullptr) link_.chain->published({name_, written.id}, spec_.step, report.is_delta);
  }

 private:
  template <class Act>
  static double timed(const Act& act) {
    const stopwatch watch;
    act();
    return watch.seconds();
  }

  void finish_encoding(save_report& report, std::uint64_t bytes) {
    auto encoded = encoder_->finish();
    report.is_delta = encoded.is_delta;
    for (const auto& [path, lost] : encoded.lost) {
      auto& worst = report.lost[path];
      worst = worse(worst, lost);
    }
    if (steps_.encoded) steps_.encoded(bytes, report.encode_seconds);
  }

  const std::string& name_;
  const description& what_;
  save_steps& steps_;
  const chain_link& link_;
  bool as_delta_;
  checkpoint_spec spec_;
  std::optional<leaf_encoder> encoder_;
  std::optional<checkpoint_writer> writer_;
};

CAIRN_INLINE save_report write_description(any_store& store, const std::string& name, const description& what,
                                           const save_options& options, save_steps steps, const chain_link& link) {
  const stopwatch watch;
  save_report report;
  report.path = store.location() + "/" + name;
  report.leaves = what.leaves.size();
  for (const auto& each : what.leaves) report.state_bytes += each.bytes();
  try {
    save_in_flight(store, name, what, options, steps, link).run(report);
  } catch (...) {
    if (link.chain != nullptr) link.chain->forget();
    throw;
  }
  report.seconds = watch.seconds();
  return report;
}

CAIRN_INLINE save_report save(const std::string& path, any_state state, const save_options& options) {
  const auto [directory, name] = split_path(path);
  any_store store = stores::directory(directory, {.durable = options.durable});
  auto report = write_description(store, name, describe(state), options);
  if (options.durable) posix::sync_ancestors(directory);
  return report;
}

}  // namespace cairn::detail
