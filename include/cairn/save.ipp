// Definitions of save.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cairn/chain_reader.hpp"
#include "cairn/encode_leaves.hpp"
#include "cairn/place.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/piece.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::detail {

/// Fills the chain's references with what a reader has of its newest checkpoint. False when that cannot be read any more.
inline bool read_references(const any_store& store, std::span<const leaf> leaves, const save_options& options,
                            save_chain& chain) {
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
inline bool has_parent(const any_store& store, const save_chain& chain) {
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

CAIRN_INLINE save_report write_description(any_store& store, const std::string& name, const description& what,
                                           const save_options& options,
                                           const std::function<void(std::uint64_t, std::uint64_t)>& on_progress,
                                           const chain_link& link) {
  const stopwatch watch;
  save_report report;
  report.path = store.location() + "/" + name;
  report.leaves = what.leaves.size();
  for (const auto& each : what.leaves) report.state_bytes += each.bytes();
  try {
    const bool as_delta = begin_delta(store, what.leaves, options, link);
    auto shards = divide_evenly(what.leaves, options.shards);
    auto encoded = encode_leaves(what.leaves, shards, options.codecs, link.chain, as_delta, options.threads);
    report.is_delta = encoded.is_delta;
    for (const auto& [path, lost] : encoded.lost) {
      auto& worst = report.lost[path];
      worst = worse(worst, lost);
    }
    lineage ties{encoded.is_delta ? link.chain->parent() : std::nullopt, std::move(encoded.tables)};
    if (ties.parent) report.parent = ties.parent->name;
    const auto written = write_checkpoint(store, name,
                                          {.leaves = what.leaves,
                                           .shards = std::move(shards),
                                           .facts = {what.facts},
                                           .step = options.step,
                                           .metrics = options.metrics,
                                           .ties = std::move(ties),
                                           .threads = options.threads,
                                           .on_progress = on_progress});
    report.bytes = written.bytes;
    if (link.chain != nullptr) link.chain->published({name, written.id}, options.step, encoded.is_delta);
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
  return write_description(store, name, describe(state), options);
}

}  // namespace cairn::detail
