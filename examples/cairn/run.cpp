// SPDX-License-Identifier: MIT
// The commands for runs: ls, prune, merge.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advice.hpp"
#include "cairn/inspect.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/retention.hpp"
#include "cairn/system/posix.hpp"
#include "commands.hpp"
#include "interrupts.hpp"
#include "json.hpp"
#include "place.hpp"
#include "printing.hpp"

namespace program {

namespace {

/// What the rules would remove, newest first; nothing without a rule.
std::vector<cairn::removal> planned_removals(const std::vector<cairn::checkpoint_summary>& all,
                                             const retention& rules) {
  cairn::detail::retention_rules wanted{rules.keep_last, {}, rules.keep_every};
  if (rules.keep_best)
    wanted.keep_best = cairn::keep_best_rule{rules.metric, *rules.keep_best, !rules.higher_is_better};
  if (!wanted.any()) return {};
  std::vector<cairn::detail::retained_entry> entries;
  for (const auto& each : all) {
    const bool is_of_run = cairn::detail::parse_checkpoint_name(each.name) == each.step;
    entries.push_back({.name = each.name,
                       .step = each.step,
                       .metrics = each.metrics,
                       .needs = each.parent.empty() ? std::vector<std::string>{} : std::vector{each.parent},
                       .is_usable = is_of_run && each.problem.empty()});
  }
  if (wanted.keep_best && !cairn::detail::has_metric(entries, *wanted.keep_best))
    cairn::fail(cairn::errc::invalid, {"no checkpoint has the metric \"", rules.metric,
                                       "\" of --keep-best, or all are NaN: `cairn ls` shows the metrics"});
  return cairn::detail::plan_retention(entries, wanted);
}

/// "which is not one of the last 3".
std::string reason_of(const cairn::removal& what) {
  return what.reason.starts_with(what.name + ' ') ? "which" + what.reason.substr(what.name.size()) : what.reason;
}

/// The metrics that the checkpoints have, by name.
std::vector<std::string> metrics_of(const std::vector<cairn::checkpoint_summary>& all) {
  std::set<std::string> names;
  for (const auto& each : all)
    for (const auto& [name, value] : each.metrics) names.insert(name);
  return {names.begin(), names.end()};
}

/// Why the index of a listed checkpoint cannot be read, and what to do.
std::string problem_of(const cairn::any_store& store, const cairn::checkpoint_summary& listed) {
  try {
    static_cast<void>(cairn::open(store, listed.name));
  } catch (const cairn::error& cause) {
    const bool is_damaged = cause.code() == cairn::errc::corrupt || cause.code() == cairn::errc::unreadable;
    return cause.what() + (is_damaged ? "; move it out of the run, or restore it from a copy" : advice_for(cause));
  }
  return listed.problem + "; try again: it can be read now";
}

/// The checkpoints, and what the rules would remove.
struct prune_plan {
  std::vector<cairn::checkpoint_summary> all;
  std::vector<cairn::removal> removals;
};

/// Without the lock a trainer may save and remove meanwhile: then the list is read again. `verifies`: the newest one.
prune_plan plan_prune(const cairn::any_store& store, const retention& rules, bool verifies) {
  constexpr int most = 100;
  for (int tries = 1;; ++tries) {
    prune_plan made{checkpoints_of(store), {}};
    const auto has_gone = [&](const std::string& name) {
      const auto now = store.list();
      return tries < most && std::find(now.begin(), now.end(), name) == now.end();
    };
    const auto damaged =
        std::find_if(made.all.begin(), made.all.end(), [](const auto& each) { return !each.problem.empty(); });
    if (damaged != made.all.end()) {
      if (has_gone(damaged->name)) continue;
      cairn::fail(cairn::errc::invalid,
                  {"nothing is removed while an index cannot be read: ", without_prefix(problem_of(store, *damaged))});
    }
    made.removals = planned_removals(made.all, rules);
    try {
      const auto newest = cairn::open(store, made.all.back().name);  // which stays, and all that it is built on
      if (verifies && !made.removals.empty()) newest.verify();
    } catch (const cairn::error& cause) {
      if (has_gone(made.all.back().name)) continue;
      cairn::fail(cause.code(),
                  {"nothing is removed while the newest checkpoint cannot be read: ", without_prefix(cause.what())});
    }
    return made;
  }
}

/// How many arrays of each delta, and of the newest checkpoint, have another shape than in the one before: these are
/// stored whole. 0 where they have less than a tenth of the bytes, as texts of generators do, and where an index cannot
/// be read. Reads no others: a run may have thousands.
std::vector<std::size_t> changed_shapes(const cairn::any_store& store,
                                        const std::vector<cairn::checkpoint_summary>& all) {
  std::vector<std::size_t> counts(all.size());
  std::string name;
  std::vector<cairn::detail::stored_leaf> leaves;  // of the checkpoint of that name, sorted by path
  const auto read = [&](const std::string& wanted) {
    if (std::exchange(name, wanted) != wanted)
      leaves = cairn::detail::read_index(*store.open(wanted), cairn::detail::index_part::all).leaves;
  };
  for (std::size_t i = 1; i < all.size(); ++i) try {
      if (all[i].parent.empty() && i + 1 < all.size()) continue;
      read(all[i].parent.empty() ? all[i - 1].name : all[i].parent);
      const auto before = std::move(leaves);
      read(all[i].name);
      std::uint64_t bytes = 0, bytes_of_changed = 0;
      auto at = before.begin();
      for (const auto& each : leaves) {
        bytes += each.bytes();
        while (at != before.end() && at->path < each.path) ++at;
        if (at == before.end() || at->path != each.path || at->shape == each.shape) continue;
        ++counts[i];
        bytes_of_changed += each.bytes();
      }
      if (bytes_of_changed < bytes / 10) counts[i] = 0;
    } catch (const cairn::error&) {  // `ls` reports it, or it has gone
      name.clear();
    }
  return counts;
}

}  // namespace

int list(const std::string& run, const retention& rules, bool json) {
  const auto store = run_at(run);
  const auto all = checkpoints_of(store);
  const bool is_damaged = std::any_of(all.begin(), all.end(), [](const auto& each) { return !each.problem.empty(); });
  std::map<std::string, std::string> removed;
  for (auto& each : planned_removals(all, rules)) removed.emplace(std::move(each.name), std::move(each.reason));
  const auto reshaped = changed_shapes(store, all);
  if (json) {
    auto made = json_value::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& each = all[i];
      json_value one{{"name", each.name},
                     {"kind", kind_of(each)},
                     {"step", each.step},
                     {"bytes", each.bytes},
                     {"time", time_of(store, each.name)},
                     {"metrics", numbers_json(each.metrics)},
                     {"reshaped", reshaped[i]}};
      if (!each.parent.empty()) one["parent"] = each.parent;
      if (!each.problem.empty()) one["problem"] = without_prefix(each.problem);
      if (const auto at = removed.find(each.name); at != removed.end()) one["would_be_removed"] = at->second;
      made.push_back(std::move(one));
    }
    print(made);
    return is_damaged ? 1 : 0;
  }
  const auto metrics = metrics_of(all);
  const bool has_deltas = std::any_of(all.begin(), all.end(), [](const auto& each) { return !each.parent.empty(); });
  std::vector<std::string> titles{"NAME", "KIND"};
  if (has_deltas) titles.emplace_back("BUILT ON");
  titles.insert(titles.end(), {"STEP", "SIZE", "SAVED"});
  for (const auto& each : metrics) titles.push_back(each);
  titles.emplace_back("NOTE");
  table rows(titles, has_deltas ? 3 : 2);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& each = all[i];
    const bool is_readable = each.problem.empty();
    std::vector<std::string> cells{each.name, kind_of(each)};
    if (has_deltas) cells.push_back(each.parent.empty() ? "-" : each.parent);
    cells.insert(cells.end(), {std::to_string(each.step), is_readable ? size_text(each.bytes) : "-",
                               time_text(time_of(store, each.name))});
    for (const auto& name : metrics) {
      const auto at = each.metrics.find(name);
      cells.push_back(at == each.metrics.end() ? "-" : number_text(at->second));
    }
    const auto at = removed.find(each.name);
    std::string note = at != removed.end() ? "would be removed" : removed.empty() ? "" : "kept";
    if (reshaped[i] > 0) note += (note.empty() ? "" : ", ") + count_text(reshaped[i], "array") + " of another shape";
    cells.push_back(std::move(note));
    rows.row(std::move(cells), is_readable ? style::plain : style::bad);
    bytes += each.bytes;
  }
  rows.print();
  std::cout << count_text(all.size(), "checkpoint") << ", " << size_text(bytes) << '\n';
  for (const auto& each : all)
    if (!each.problem.empty()) std::cout << without_prefix(problem_of(store, each)) << '\n';
  if (!removed.empty()) std::cout << "prune --yes with the same rules removes what is marked\n";
  return is_damaged ? 1 : 0;
}

int prune(const std::string& run, const retention& rules, bool really, bool json) {
  if (!rules.keep_last && !rules.keep_every && !rules.keep_best)
    cairn::fail(cairn::errc::invalid, {"prune needs a rule: --keep-last, --keep-every or --keep-best"});
  cairn::any_store store = run_at(run);
  static_cast<void>(checkpoints_of(store));  // before the lock, which makes the directory
  const auto signals = really ? std::make_unique<interrupts>() : nullptr;
  const auto lock = really ? store.lock() : nullptr;  // errc::busy while a trainer saves there
  const auto [all, removals] = plan_prune(store, rules, really);
  if (really) std::signal(SIGPIPE, SIG_IGN);  // a reader of the output that ends does not end the removals
  std::map<std::string, std::uint64_t> bytes_of;
  for (const auto& each : all) bytes_of[each.name] = each.bytes;
  std::uint64_t bytes = 0, removed = 0;
  std::vector<std::string> lines;
  auto made = json_value::array();
  const auto report = [&, count = all.size()] {
    if (json) return print(made);
    for (const auto& each : lines) std::cout << each << '\n';
    std::cout << (really ? "removed " : "would remove ") << removed << " of " << count_text(count, "checkpoint") << ", "
              << size_text(bytes) << (really || removed == 0 ? "" : "; --yes removes them") << '\n';
  };
  for (const auto& each : removals) {
    if (really) try {
        interrupts::check("the others stay");
        store.remove(each.name);
      } catch (...) {
        report();
        throw;
      }
    bytes += bytes_of[each.name];
    ++removed;
    made.push_back(
        {{"name", each.name}, {"reason", each.reason}, {"bytes", bytes_of[each.name]}, {"is_removed", really}});
    lines.push_back((really ? "removed " : "would remove ") + printable(each.name + ", " + reason_of(each)));
  }
  report();
  return 0;
}

int merge(const std::string& checkpoint, bool json) {
  auto stored = stored_at(checkpoint);
  if (!stored) cairn::fail(cairn::errc::invalid, {"merge takes a checkpoint or a run; ", checkpoint, " is a file"});
  auto& [store, name] = *stored;
  const interrupts signals;
  const auto report = [&] {
    const progress shown(2 * bytes_at(checkpoint), json);
    const auto check = [] { interrupts::check("the checkpoint is as it was"); };
    return cairn::merge_checkpoints(store, name, {.check = check});
  }();
  if (json)
    print({{"name", name}, {"deltas", report.deltas}, {"bytes", report.bytes}});
  else if (report.deltas == 0)
    std::cout << printable(name) << " is whole already\n";
  else
    std::cout << "merged " << count_text(report.deltas, "delta") << " into " << printable(name) << ", "
              << size_text(report.bytes) << '\n';
  return 0;
}

}  // namespace program
