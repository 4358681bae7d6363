// SPDX-License-Identifier: MIT
// Definitions of chain/load.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cairn/chain/load.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/chain/shared_reads.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/state/fetched_leaves.hpp"
#include "cairn/state/load_plan.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shared_indexes.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

using path_set = std::set<std::string, std::less<>>;
using check_reader = std::function<void(const chain_reader&)>;

/// Resizes the containers of a load, after the pages of their new memory have been touched in parallel.
inline void grow(const std::vector<growth>& growths, unsigned threads) {
  std::vector<memory_range> ranges;
  for (const auto& each : growths) {
    const auto begin = reinterpret_cast<std::uintptr_t>(each.memory);
    ranges.push_back({begin, begin + each.bytes});
  }
  populate_pages(std::move(ranges), threads);
  parallel_for(growths.size(), threads,
               [&](std::size_t i, unsigned) { growths[i].resize(growths[i].container, growths[i].size); });
}

/// Whether two targets share memory, as tied arrays and overlapping views do: these are read by one thread.
inline bool overlap(const std::vector<read_request>& requests) {
  std::vector<memory_range> ranges;
  std::uint64_t bytes = 0;
  for (const auto& each : requests) {
    if (!each.into.contiguous() || each.into.bytes() == 0) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(each.into.memory);
    ranges.push_back({begin, begin + each.into.bytes()});
    bytes += each.into.bytes();
  }
  for (const auto& each : join_ranges(std::move(ranges), 0)) bytes -= each.end - each.begin;
  return bytes > 0;
}

/// Reads the targets of another dtype than the stored one, and those that the check has read, one by one. Returns the requests for the others.
[[nodiscard]] inline std::vector<read_request> read_converted(const chain_reader& from,
                                                              const std::vector<target>& targets,
                                                              fetched_leaves& fetched) {
  std::vector<read_request> bulk;
  bulk.reserve(targets.size());
  std::map<const std::byte*, std::uint64_t> filled;  // tied arrays are read once: the plan checked that they agree
  for (const auto& [index, destination, region] : targets) {
    if (region) {
      if (region->count() > 0) bulk.push_back({index, destination, region});
      continue;
    }
    if (destination.contiguous() && !destination.shape.empty()) {
      const auto [at, first] = filled.emplace(destination.memory, destination.bytes());
      if (!first && at->second == destination.bytes()) continue;
    }
    const stored_leaf& stored = from.contents().leaves[index];
    if (stored.type == destination.type && element_count(stored.shape) == destination.count() && !fetched.has(index))
      bulk.push_back({index, destination});
    else
      fetch_leaf(fetched, from.contents(), index, destination);
  }
  return bulk;
}

/// Checks that the leaves to be loaded can be decoded, and with `verify_first` their checksums; without a filter, those of all leaves.
inline void check(const chain_reader& from, load_plan& load, const load_options& options) {
  std::vector<std::size_t> leaves;
  for (const auto& path : load.report().loaded) {
    const auto tie = from.contents().structure.find(path);  // a tied array is read from the first path
    const bool tied = tie != from.contents().structure.end() && tie->second.what == structure_entry::kind::same;
    const auto index = from.contents().find(tied ? tie->second.text : path);
    if (index == catalog::npos) continue;
    leaves.push_back(index);
    const auto region = load.regions().find(index);
    from.require_slices(index, region == load.regions().end() ? leaf_part() : leaf_part{.region = region->second});
  }
  if (!options.verify || !options.verify_first.value_or(true)) return;
  if (!options.filter) return from.verify(options.threads);
  from.verify(leaves, options.threads);
}

/// errc::corrupt if a load keeps parts of the state that an earlier one may have changed.
inline void require_unchanged(const match_report& found, const path_set& changed, const std::string& origin) {
  for (const auto* kept : {&found.missing, &found.reshaped})
    for (const auto& path : *kept) {
      const auto below = changed.lower_bound(path + '.');
      if (changed.contains(path) || (below != changed.end() && is_within(*below, path)))
        fail(errc::corrupt, {origin, " does not have all of ", path, ", which a damaged newer checkpoint has changed"});
    }
}

/// What the loaded leaves have lost, in this load and in earlier restores.
inline restored_losses losses_of(const chain_reader& from, const std::vector<target>& targets) {
  restored_losses all;
  for (const auto& each : targets) {
    const auto& storage = from.newest().storage_of(each.index);
    auto lost = storage.restored ? *storage.restored : restored_loss{};
    if (storage.encoded && storage.encoded->lost) {
      lost.sum.max_error += storage.encoded->lost->max_error;
      lost.sum.relative_l2 += storage.encoded->lost->relative_l2;
      if (const auto part = storage.encoded->lost->delta_l2) lost.sum.delta_l2 = lost.sum.delta_l2.value_or(0) + *part;
      ++lost.restores;
    }
    if (lost.restores > 0) all.emplace(from.contents().leaves[each.index].path, lost);
  }
  return all;
}

std::function<reshaping(std::string_view path)> or_resize(std::function<reshaping(std::string_view path)> asked) {
  return [asked = std::move(asked)](std::string_view path) {
    const auto allowed = asked ? asked(path) : reshaping::none;
    return allowed == reshaping::none ? reshaping::resize : allowed;
  };
}

/// load_from, without the conversion of exceptions.
inline load_report check_and_load(const chain_reader& from, any_mutable_state state, const load_options& options,
                                  path_set& changed, team& ranks) {
  const stopwatch watch;
  const match_options how{.strict = options.strict,
                          .rename = options.rename,
                          .filter = options.filter,
                          .convert = options.convert,
                          .reshape = changed.empty() ? options.reshape : or_resize(options.reshape)};
  std::optional<load_plan> plan;
  ranks.all([&] {
    plan.emplace(state, from.contents(), how, rank_info{ranks.rank(), ranks.size()});
    require_unchanged(plan->report(), changed, from.contents().origin);
    check(from, *plan, options);
  });
  load_plan& load = *plan;
  try {
    const auto requests = ranks.all([&] {
      load.apply();
      grow(load.growths(), options.threads);
      return read_converted(from, load.targets(), load.fetched());
    });
    const bool overlaps = overlap(requests);
    read_together(from, requests, {.threads = overlaps ? 1U : options.threads, .verify = options.verify},
                  overlaps ? read_sharing::never : options.sharing, ranks);
    ranks.all([&] { load.finish(); });
  } catch (...) {
    changed.insert(load.report().loaded.begin(), load.report().loaded.end());
    throw as_error(std::current_exception(), from.contents().origin + " cannot be loaded").after_change();
  }
  load_report report;
  static_cast<match_report&>(report) = std::move(load.report());
  report.path = from.contents().origin;
  report.step = from.step();
  report.id = from.newest().id();
  report.links = from.links().size();
  report.metrics = from.metrics();
  report.notes = from.newest().info().notes;
  report.metadata = from.newest().info().metadata;
  report.restored = losses_of(from, load.targets());
  for (const auto& each : load.targets()) report.bytes += each.destination.bytes();
  report.seconds = watch.seconds();
  return report;
}

void refuse_step(const load_options& options) {
  if (options.step)
    fail(errc::invalid, {"step is ", *options.step,
                         ": only restore, and loads from a store or a directory of checkpoints, take a step"});
}

/// `changed`: the paths of what failed loads may have changed; one that fails adds its own.
inline load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options,
                             path_set& changed, team& ranks) {
  return with_errors(from.contents().origin + " cannot be loaded",
                     [&] { return check_and_load(from, state, options, changed, ranks); });
}

load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options) {
  path_set changed;
  team alone;
  return load_from(from, state, options, changed, alone);
}

bool is_of_checkpoint(errc code) noexcept {
  return code == errc::corrupt || code == errc::unreadable || code == errc::not_found;
}

/// Opens a checkpoint. In a group, the leader reads the indexes of its chain for all.
inline void open_reader(std::optional<chain_reader>& reader, const any_store& store, std::string_view name,
                        const codec_rules& codecs, team& ranks) {
  if (ranks.is_alone()) {
    reader.emplace(store, name, codecs);
    return;
  }
  const auto texts = ranks.from_leader([&] {
    const stores::detail::shared_indexes indexes(&store);
    reader.emplace(indexes, name, codecs);
    return indexes.texts();
  });
  ranks.all([&] {
    if (!ranks.is_leader()) reader.emplace(stores::detail::shared_indexes(&store, texts), name, codecs);
  });
}

load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                       const load_options& options, const check_reader& check, path_set& changed, team& ranks) {
  constexpr int most = 20;
  bool is_state_changed = false;
  for (int attempt = 1;; ++attempt) {
    std::optional<chain_reader> reader;
    try {
      open_reader(reader, store, name, options.codecs, ranks);
      ranks.all([&] {
        if (check) check(*reader);
      });
      auto report = load_from(*reader, state, options, changed, ranks);
      report.name = name;
      return report;
    } catch (const error& cause) {  // shards are opened late, and again: the checkpoint may have been merged meanwhile
      is_state_changed = is_state_changed || cause.state_changed();
      const auto is_outdated = [&] { return reader && reader->is_outdated(store); };
      if (attempt == most || !ranks.from_leader(is_outdated)) throw is_state_changed ? cause.after_change() : cause;
    }
  }
}

load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                       const load_options& options) {
  path_set changed;
  team alone;
  return load_named(store, name, state, options, {}, changed, alone);
}

}  // namespace cairn::inline v0_1::detail
