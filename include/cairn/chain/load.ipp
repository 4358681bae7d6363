// Definitions of chain/load.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cairn/chain/load.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/state/fetch_leaf.hpp"
#include "cairn/state/load_plan.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/store/branches.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::detail {

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

/// Reads the targets: those of the stored dtype together, the others, and those that the check has read, one by one.
inline void read_targets(const chain_reader& from, const std::vector<target>& targets, fetched_leaves& fetched,
                         const load_options& options) {
  std::vector<read_request> bulk;
  bulk.reserve(targets.size());
  std::map<const std::byte*, std::uint64_t> filled;  // tied arrays are read once: the plan checked that they agree
  for (const auto& [index, destination] : targets) {
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
  from.read(bulk, {.threads = overlap(bulk) ? 1U : options.threads, .verify = options.verify});
}

/// Checks that the leaves to be loaded can be decoded, and with `verify_first` their checksums; without a filter, those of all leaves.
inline void check(const chain_reader& from, const match_report& found, const load_options& options) {
  std::vector<std::size_t> leaves;
  for (const auto& path : found.loaded) {
    const auto tie = from.contents().structure.find(path);  // a tied array is read from the first path
    const bool tied = tie != from.contents().structure.end() && tie->second.what == structure_entry::kind::same;
    if (const auto index = from.contents().find(tied ? tie->second.text : path); index != catalog::npos)
      leaves.push_back(index);
  }
  from.require_slices(leaves);
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
      ++lost.restores;
    }
    if (lost.restores > 0) all.emplace(from.contents().leaves[each.index].path, lost);
  }
  return all;
}

/// load_from, without the conversion of exceptions.
inline load_report check_and_load(const chain_reader& from, any_mutable_state state, const load_options& options,
                                  path_set& changed) {
  const stopwatch watch;
  const match_options how{.strict = options.strict,
                          .rename = options.rename,
                          .filter = options.filter,
                          .convert = options.convert,
                          .reshape = options.reshape};
  load_plan load(state, from.contents(), how);
  require_unchanged(load.report(), changed, from.contents().origin);
  check(from, load.report(), options);
  try {
    load.apply();
    grow(load.growths(), options.threads);
    read_targets(from, load.targets(), load.fetched(), options);
    load.finish();
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

CAIRN_INLINE void refuse_step(const load_options& options) {
  if (options.step)
    fail(errc::invalid, {"step is ", *options.step,
                         ": only restore, and loads from a store or a directory of checkpoints, take a step"});
}

/// `changed`: the paths of what failed loads may have changed; one that fails adds its own.
inline load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options,
                             path_set& changed) {
  return with_errors(from.contents().origin + " cannot be loaded",
                     [&] { return check_and_load(from, state, options, changed); });
}

CAIRN_INLINE load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options) {
  path_set changed;
  return load_from(from, state, options, changed);
}

CAIRN_INLINE bool is_of_checkpoint(errc code) noexcept {
  return code == errc::corrupt || code == errc::unreadable || code == errc::not_found;
}

CAIRN_INLINE load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                                    const load_options& options, const check_reader& check, path_set& changed) {
  constexpr int most = 20;
  bool is_state_changed = false;
  for (int attempt = 1;; ++attempt) {
    std::optional<chain_reader> reader;
    try {
      reader.emplace(store, name, options.codecs);
      if (check) check(*reader);
      auto report = load_from(*reader, state, options, changed);
      report.name = name;
      return report;
    } catch (const error& cause) {  // shards are opened late, and again: the checkpoint may have been merged meanwhile
      is_state_changed = is_state_changed || cause.state_changed();
      if (attempt == most || !reader || !reader->is_outdated(store))
        throw is_state_changed ? cause.after_change() : cause;
    }
  }
}

CAIRN_INLINE load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                                    const load_options& options) {
  path_set changed;
  return load_named(store, name, state, options, {}, changed);
}

/// Loads the checkpoint `name` of the store, and reports that as an event.
inline load_report restore_one(const any_store& store, const std::string& name, any_mutable_state state,
                               const load_options& options, const observer& on_event, path_set& changed) {
  const auto check_step = [&](const chain_reader& reader) {
    if (parse_checkpoint_name(name).value_or(reader.step()) != reader.step())
      fail(errc::corrupt, {reader.contents().origin, " holds step ", reader.step(), ", which is not that of its name"});
  };
  auto report = load_named(store, name, state, options, check_step, changed);
  notify(on_event, {.what = event::kind::restored,
                    .checkpoint = report.path,
                    .step = report.step,
                    .bytes = report.bytes,
                    .total = report.bytes,
                    .seconds = report.seconds});
  return report;
}

/// What to do where nothing in the history can be restored, and there are checkpoints of other runs.
inline std::string other_runs_advice(const any_store& store) {
  const auto all = named_by_step(store.list());
  const auto others = all.size() - named_by_step(history_of(all)).size();
  if (others == 0) return {};
  return sentence({". They are in the history of branch ", newest_branch(all).number, "; to restore one of the other ",
                   others, ", move the directories of this branch away"});
}

CAIRN_INLINE std::optional<load_report> restore_first(const any_store& store, const list_checkpoints& candidates,
                                                      any_mutable_state state, const load_options& options,
                                                      const observer& on_event) {
  constexpr int most_lists = 100, most_failures = 3;
  int failures = 0;
  path_set changed;
  bool is_state_changed = false;
  for (int lists = 1;; ++lists) {
    const auto names = candidates();
    std::vector<skipped_checkpoint> skipped;
    bool is_outdated = false;
    for (const auto& name : names) {
      try {
        auto report = restore_one(store, name, state, options, on_event, changed);
        report.skipped = std::move(skipped);
        return report;
      } catch (const error& cause) {
        is_state_changed = is_state_changed || cause.state_changed();
        // Another process may have removed or replaced it: what is missing now says nothing about what is there. After a stale handle the
        // next attempt tells.
        const bool has_gone = cause.code() == errc::not_found, has_failed = cause.code() == errc::io;
        const bool may_be_outdated = (is_of_checkpoint(cause.code()) || has_failed) && lists < most_lists;
        is_outdated =
            may_be_outdated && (has_gone || (has_failed && ++failures < most_failures) || candidates() != names);
        if (is_outdated) break;
        if (!is_of_checkpoint(cause.code())) throw is_state_changed ? cause.after_change() : cause;
        skipped.push_back({name, std::string(cause.sentence())});
        notify(on_event, {.what = event::kind::fell_back,
                          .checkpoint = store.location() + "/" + name,
                          .step = parse_checkpoint_name(name).value_or(0),
                          .message = std::string(cause.sentence())});
      }
    }
    if (is_outdated) continue;
    if (names.empty()) {
      const auto where = store.location();
      notify(on_event, {.what = event::kind::nothing_restored,
                        .checkpoint = where,
                        .message = sentence({"there is no checkpoint in ", where, missing_advice(where)})});
      return std::nullopt;
    }
    const error none(errc::corrupt,
                     sentence({"none of the ", skipped.size(), " checkpoints in ", store.location(), " can be restored",
                               is_state_changed ? ", and the state has been changed in part" : "",
                               "; the first one tried: ", skipped.front().reason, other_runs_advice(store)}));
    throw is_state_changed ? none.after_change() : none;
  }
}

CAIRN_INLINE std::optional<load_report> restore(const any_store& store, any_mutable_state state,
                                                const load_options& options, const observer& on_event) {
  const auto newest_first = [&] {
    auto names = history_of(store.list());
    std::reverse(names.begin(), names.end());
    return names;
  };
  const auto wanted = [&] {
    auto names = history_of(store.list());
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& name) { return parse_checkpoint_name(name) == options.step; });
    if (found == names.end())
      fail(errc::not_found,
           {"there is no checkpoint of step ", *options.step, " in ",
            newest_branch(names).number != 0 ? "the history of the newest branch in " : "", store.location(),
            names.empty() ? missing_advice(store.location())
                          : "; there are " + std::to_string(names.size()) + ", the newest is " + names.back()});
    return std::vector{std::move(*found)};
  };
  return options.step ? restore_first(store, wanted, state, options, on_event)
                      : restore_first(store, newest_first, state, options, on_event);
}

}  // namespace cairn::detail
