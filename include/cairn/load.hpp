// Brings a stored checkpoint into a state: check everything, verify everything, then change the state in
// place.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/pages.hpp"
#include "cairn/core/parallel.hpp"
#include "cairn/event.hpp"
#include "cairn/state/match.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/reader.hpp"

namespace cairn {

/// How to load. The members before the last two say how state and checkpoint are brought together (see
/// match_options).
struct load_options {
  bool strict = true;
  std::function<std::string(std::string_view path)> rename{};
  std::function<bool(std::string_view path)> filter{};
  conversion convert = conversion::none;
  bool verify = true;    ///< check all checksums before the state is touched
  unsigned threads = 0;  ///< 0: the machine's
};

/// A checkpoint that a restore passed over.
struct skipped_checkpoint {
  std::string checkpoint;
  std::string reason;
};

/// What a load did.
struct load_report : match_report {
  std::string path;  ///< the checkpoint that was loaded
  std::uint64_t step = 0;
  std::map<std::string, double> metrics;
  std::uint64_t bytes = 0;  ///< loaded into the state
  double seconds = 0;
  std::vector<skipped_checkpoint> skipped;  ///< newer ones that could not be restored, and why
};

namespace detail {

/// Runs the growths of a load: all memory is made present first, then each container is sized.
inline void grow(const std::vector<matching::growth>& growths, unsigned threads) {
  std::vector<memory_range> ranges;
  for (const auto& each : growths) {
    const auto begin = reinterpret_cast<std::uintptr_t>(each.memory);
    ranges.push_back({begin, begin + each.bytes});
  }
  populate_pages(std::move(ranges), threads);
  parallel_for(growths.size(), threads,
               [&](std::size_t i, unsigned) { growths[i].resize(growths[i].container, growths[i].size); });
}

/// True where two targets touch the same memory: tied arrays, or views into one another.
inline bool overlap(const std::vector<read_request>& requests) {
  std::vector<memory_range> ranges;
  for (const auto& each : requests) {
    if (!each.into.contiguous()) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(each.into.memory);
    if (each.into.bytes() > 0) ranges.push_back({begin, begin + each.into.bytes()});
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end) return true;
  return false;
}

/// Reads the targets: those of the stored dtype in bulk, the others one by one through a conversion.
inline void read_targets(const checkpoint_reader& from, const std::vector<target>& targets,
                         const load_options& options) {
  std::vector<read_request> bulk;
  bulk.reserve(targets.size());
  for (const auto& [index, destination] : targets) {
    if (from.contents().leaves[index].type == destination.type)
      bulk.push_back({index, destination});
    else
      fetch_leaf(from.contents(), index, destination);
  }
  from.read(bulk, {.threads = overlap(bulk) ? 1U : options.threads, .verify = options.verify});
}

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Loads an open checkpoint. Until everything has been checked the state is untouched.
template <class State>
load_report load_from(const checkpoint_reader& from, State& state, const load_options& options,
                      rank_info here = {}) {
  const auto begin = std::chrono::steady_clock::now();
  const match_options how{options.strict, options.rename, options.filter, options.convert};
  loading<State> load(state, from.contents(), how, here);
  if (options.verify) from.verify(options.threads);
  load.apply();
  grow(load.growths(), options.threads);
  read_targets(from, load.targets(), options);
  load_report report;
  static_cast<match_report&>(report) = std::move(load.report());
  report.path = from.contents().origin;
  report.step = from.step();
  report.metrics = from.metrics();
  for (const auto& each : load.targets()) report.bytes += each.destination.bytes();
  report.seconds = seconds_since(begin);
  return report;
}

/// True for an error that says that this checkpoint is bad, not that the state or the caller is.
[[nodiscard]] inline bool is_of_checkpoint(errc code) noexcept {
  return code == errc::corrupt || code == errc::io || code == errc::not_found;
}

/// Loads the newest checkpoint of the store that can be restored, or nothing when there is none at all.
/// Throws when there are some and none of them can be.
template <class State>
std::optional<load_report> restore_newest(const any_store& store, State& state, const load_options& options,
                                          const observer& on_event = {}, rank_info here = {}) {
  auto names = store.list();
  std::vector<skipped_checkpoint> skipped;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    try {
      const checkpoint_reader reader(store, *name);
      auto report = load_from(reader, state, options, here);
      report.skipped = std::move(skipped);
      if (on_event)
        on_event({.what = event::kind::restored,
                  .checkpoint = report.path,
                  .step = report.step,
                  .bytes = report.bytes,
                  .total = report.bytes,
                  .seconds = report.seconds,
                  .message = {}});
      return report;
    } catch (const error& cause) {
      if (!is_of_checkpoint(cause.code())) throw;
      skipped.push_back({*name, cause.what()});
      if (on_event)
        on_event({.what = event::kind::fell_back,
                  .checkpoint = *name,
                  .step = 0,
                  .bytes = 0,
                  .total = 0,
                  .seconds = 0,
                  .message = cause.what()});
    }
  }
  if (skipped.empty()) return std::nullopt;
  fail(errc::corrupt, {"none of the ", std::to_string(skipped.size()), " checkpoints in ", store.location(),
                       " can be restored; the newest one: ", skipped.front().reason});
}

}  // namespace detail
}  // namespace cairn
