// SPDX-License-Identifier: MIT
// Definitions of chain/load.hpp: the load of one checkpoint, and the choice of the one that is restored.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cairn/chain/load.hpp"
#include "cairn/chain/shared_reads.hpp"
#include "cairn/state/stored_state.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/store/host_set.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1 {

load_report::load_report() = default;
load_report::load_report(const load_report&) = default;
load_report::load_report(load_report&&) noexcept = default;
load_report& load_report::operator=(const load_report&) = default;
load_report& load_report::operator=(load_report&&) noexcept = default;
load_report::~load_report() = default;

save_report::save_report() = default;
save_report::save_report(const save_report&) = default;
save_report::save_report(save_report&&) noexcept = default;
save_report& save_report::operator=(const save_report&) = default;
save_report& save_report::operator=(save_report&&) noexcept = default;
save_report::~save_report() = default;

}  // namespace cairn::inline v0_1

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

/// Reads the targets of another dtype than the stored one, and those that the check has read, one by one. Returns the
/// requests for the others.
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

/// Checks that leaves to load can be decoded, and with `verify_first` their checksums; without a filter, those of all.
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
    const auto& storage = from.newest().index.storage[each.index];
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

/// `changed`: the paths of what failed loads may have changed; one that fails adds its own.
inline load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options,
                             path_set& changed, team& ranks) {
  const auto what = from.contents().origin + " cannot be loaded";
  return with_errors(what, [&] {
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
      throw as_error(std::current_exception(), {what}).after_change();
    }
    load_report report;
    static_cast<match_report&>(report) = std::move(load.report());
    report.path = from.contents().origin;
    report.step = from.step();
    report.id = checkpoint_id(from.newest().index);
    report.links = from.links().size();
    report.metrics = from.info().metrics;
    report.notes = from.info().notes;
    report.metadata = from.info().metadata;
    report.restored = losses_of(from, load.targets());
    for (const auto& each : load.targets()) report.bytes += each.destination.bytes();
    report.seconds = watch.seconds();
    return report;
  });
}

void refuse_step(const load_options& options) {
  if (options.step)
    fail(errc::invalid, {"step is ", *options.step,
                         ": only restore, and loads from a store or a directory of checkpoints, take a step"});
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
inline void open_reader(chain_reader& reader, const any_store& store, std::string_view name, team& ranks) {
  if (ranks.is_alone()) return reader.open(store, name);
  index_texts indexes;
  auto texts = ranks.from_leader([&] {
    reader.open(store, name, &indexes);
    std::vector<std::string> all;  // names and texts by turns
    for (const auto& [of, text] : indexes) {
      all.push_back(of);
      all.push_back(text);
    }
    return all;
  });
  ranks.all([&] {
    if (ranks.is_leader()) return;
    for (std::size_t i = 0; i < texts.size(); i += 2)
      indexes.insert_or_assign(std::move(texts[i]), std::move(texts[i + 1]));
    reader.open(store, name, &indexes);
  });
}

void with_reader(const any_store& store, const std::function<std::string()>& choose, const codec_rules& codecs,
                 team& ranks, const std::function<void(const std::shared_ptr<const chain_reader>&)>& act) {
  constexpr int most = 20, most_failures = 3;
  for (int attempt = 1;; ++attempt) {
    const auto name = choose();
    const auto reader = std::make_shared<chain_reader>(codecs);
    try {
      open_reader(*reader, store, name, ranks);
      return act(reader);
    } catch (const error& cause) {
      // Deleted by another host, or an error of the moment.
      const bool may_be_stale =
          (cause.code() == errc::io || cause.code() == errc::not_found) && attempt < most_failures;
      const auto has_changed = [&] { return may_be_stale || reader->is_outdated(store) || choose() != name; };
      if (attempt == most || !ranks.from_leader(has_changed)) throw;
    }
  }
}

std::shared_ptr<const chain_reader> open_chain(const any_store& store, const std::function<std::string()>& choose,
                                               const codec_rules& codecs) {
  team alone;
  std::shared_ptr<const chain_reader> opened;
  with_reader(store, choose, codecs, alone, [&](const auto& reader) {
    reader->open_shards();
    opened = reader;
  });
  return opened;
}

load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                       const load_options& options, const check_reader& check, path_set& changed, team& ranks) {
  load_report report;
  const auto load = [&](const auto& reader) {
    ranks.all([&] {
      if (check) check(*reader);
    });
    report = load_from(*reader, state, options, changed, ranks);
  };
  try {
    with_reader(store, [&] { return std::string(name); }, options.codecs, ranks, load);
  } catch (const error& cause) {
    throw changed.empty() ? cause : cause.after_change();
  }
  report.name = name;
  return report;
}

load_report load_named(const any_store& store, std::string_view name, any_mutable_state state,
                       const load_options& options) {
  path_set changed;
  team alone;
  return load_named(store, name, state, options, {}, changed, alone);
}

inline std::string restored_message(const load_report& report) {
  constexpr std::size_t shown = 4;
  std::string text;
  const auto& paths = report.resized;
  for (std::size_t i = 0; i < std::min(paths.size(), shown); ++i) text += (i ? ", " : "with another size: ") + paths[i];
  if (paths.size() > shown) text += " and " + std::to_string(paths.size() - shown) + " more";
  for (const auto& each : report.replaced) text += (text.empty() ? "" : "; ") + each;
  return text;
}

/// Loads the checkpoint `name` of the store, and reports that as an event.
inline load_report restore_one(const any_store& store, const std::string& name, any_mutable_state state,
                               const load_options& options, const observer& on_event, path_set& changed, team& ranks) {
  const auto check_step = [&](const chain_reader& reader) {
    if (parse_checkpoint_name(name).value_or(reader.step()) != reader.step())
      fail(errc::corrupt, {reader.contents().origin, " holds step ", reader.step(), ", which is not that of its name"});
  };
  auto report = load_named(store, name, state, options, check_step, changed, ranks);
  notify(on_event, {.what = event::kind::restored,
                    .checkpoint = report.path,
                    .step = report.step,
                    .bytes = report.bytes,
                    .total = report.bytes,
                    .seconds = report.seconds,
                    .message = restored_message(report)});
  return report;
}

/// Where nothing can be restored, ranks of several hosts may see different places at one path: errc::mismatch.
inline void require_same_checkpoints(const any_store& store, team& ranks) {
  if (ranks.is_alone()) return;
  const auto seen = ranks.all([&] {
    const auto names = store.list();
    return names.empty() ? "none" : sentence({names.size(), ", the newest is ", names.back()});
  });
  ranks.require_same("the checkpoints that they see in " + store.location(), seen);
}

/// A place that has a checkpoint; of several, its number.
struct restore_place {
  any_store store;
  std::size_t level = 0;
};

/// The places that have the checkpoint, the nearest first, as the leader sees them; of a single one, the store itself.
inline std::vector<restore_place> places_of(const any_store& store, const std::string& name, team& ranks) {
  const auto levels = store.levels();
  if (!levels) return {{store}};
  const auto numbers = ranks.from_leader([&] {
    std::vector<std::string> all;
    for (const auto number : levels->having(name)) all.push_back(std::to_string(number));
    return all;
  });
  std::vector<restore_place> places;
  for (const auto& each : numbers) {
    const auto number = static_cast<std::size_t>(std::stoull(each));
    places.push_back({levels->place(number), number});
  }
  return places;
}

/// On the disks of hosts: sends each host what it lacks. Where there `is_another` place, that one serves if a host has
/// no room.
inline void bring(const any_store& store, const std::string& name, bool is_another, team& ranks) {
  const auto hosts = store.hosts();
  if (!hosts) return;
  try {
    hosts->bring(name, ranks);
  } catch (const error& cause) {
    if (cause.code() != errc::io || !is_another || ranks.is_broken()) throw;
    throw error(errc::unreadable, std::string(cause.sentence()));
  }
}

std::optional<load_report> restore_first(const any_store& store,
                                         const std::function<std::vector<std::string>()>& candidates,
                                         any_mutable_state state, const load_options& options, const observer& on_event,
                                         team& ranks) {
  constexpr int most_lists = 20;
  path_set changed;  // an error after the first change says so
  for (int lists = 1;; ++lists) {
    const auto names = ranks.from_leader(candidates);
    std::vector<skipped_checkpoint> skipped;
    bool has_gone = false;  // by retention of another process: it says nothing about what is there
    for (const auto& name : names) {
      const auto places = places_of(store, name, ranks);
      if (places.empty()) skipped.push_back({name, name + " has just been removed"});
      has_gone = places.empty() && lists < most_lists;
      for (std::size_t i = 0; i < places.size() && !has_gone; ++i) {
        try {
          bring(places[i].store, name, i + 1 < places.size(), ranks);
          auto report = restore_one(places[i].store, name, state, options, on_event, changed, ranks);
          report.level = places[i].level;
          report.skipped = std::move(skipped);
          return report;
        } catch (const error& cause) {
          const bool is_last = i + 1 == places.size();
          has_gone = is_last && cause.code() == errc::not_found && lists < most_lists;
          if (has_gone) break;
          if (!is_of_checkpoint(cause.code())) throw;
          if (is_last) skipped.push_back({name, std::string(cause.sentence())});
          notify(on_event, {.what = event::kind::fell_back,
                            .checkpoint = places[i].store.location() + "/" + name,
                            .step = parse_checkpoint_name(name).value_or(0),
                            .message = std::string(cause.sentence()),
                            .code = cause.code()});
        }
      }
      if (has_gone) break;
    }
    if (has_gone) continue;
    try {
      require_same_checkpoints(store, ranks);
    } catch (const error& cause) {
      throw changed.empty() ? cause : cause.after_change();
    }
    if (names.empty()) {
      const auto where = store.location();
      notify(on_event, {.what = event::kind::nothing_restored,
                        .checkpoint = where,
                        .message = sentence({"there is no checkpoint in ", where, missing_advice(where)})});
      return std::nullopt;
    }
    const error none(errc::corrupt,
                     sentence({"none of the ", skipped.size(), " checkpoints in ", store.location(), " can be restored",
                               changed.empty() ? "" : ", and the state has been changed in part",
                               "; the first one tried: ", skipped.front().reason}));
    throw changed.empty() ? none : none.after_change();
  }
}

std::optional<load_report> restore(const any_store& store, any_mutable_state state, const load_options& options) {
  team alone;
  return restore(store, state, options, {}, alone);
}

std::optional<load_report> restore(const any_store& store, any_mutable_state state, const load_options& options,
                                   const observer& on_event, team& ranks) {
  const auto candidates = [&] {
    auto names = store.list();
    if (!options.step) {
      std::ranges::reverse(names);
      return names;
    }
    const auto found = std::ranges::find(names, options.step, parse_checkpoint_name);
    if (found == names.end())
      fail(errc::not_found,
           {"there is no checkpoint of step ", *options.step, " in ", store.location(),
            names.empty() ? missing_advice(store.location())
                          : "; there are " + std::to_string(names.size()) + ", the newest is " + names.back()});
    return std::vector{std::move(*found)};
  };
  return restore_first(store, candidates, state, options, on_event, ranks);
}

}  // namespace cairn::inline v0_1::detail
