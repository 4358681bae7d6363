// SPDX-License-Identifier: MIT
// The commands for runs: ls, prune, merge, verify.
#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/inspect.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/retention.hpp"
#include "cairn/system/paths.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "printing.hpp"

namespace program {

namespace {

const char* kind_of(const cairn::checkpoint_summary& one) {
  return !one.problem.empty() ? "unreadable" : one.parent.empty() ? "whole" : "delta";
}

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
    cairn::fail(cairn::errc::invalid, {"no checkpoint has the metric \"", rules.metric, "\" of --keep-best"});
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

}  // namespace

int list(const std::string& run, const retention& rules, bool json) {
  const auto all = cairn::list_checkpoints(run);
  std::map<std::string, std::string> removed;
  for (auto& each : planned_removals(all, rules)) removed.emplace(std::move(each.name), std::move(each.reason));
  if (json) {
    auto made = json_value::array();
    for (const auto& each : all) {
      json_value one{{"name", each.name},
                     {"kind", kind_of(each)},
                     {"step", each.step},
                     {"bytes", each.bytes},
                     {"metrics", numbers_json(each.metrics)}};
      if (!each.parent.empty()) one["parent"] = each.parent;
      if (!each.problem.empty()) one["problem"] = without_prefix(each.problem);
      if (const auto at = removed.find(each.name); at != removed.end()) one["would_be_removed"] = at->second;
      made.push_back(std::move(one));
    }
    print(made);
    return 0;
  }
  const auto metrics = metrics_of(all);
  std::vector<std::string> titles{"NAME", "KIND", "STEP", "SIZE"};
  for (const auto& each : metrics) titles.push_back(printable(each));
  titles.emplace_back("NOTE");
  table rows(titles, 2);
  std::uint64_t bytes = 0;
  for (const auto& each : all) {
    const bool is_readable = each.problem.empty();
    std::vector<std::string> cells{printable(each.name), kind_of(each), std::to_string(each.step),
                                   is_readable ? size_text(each.bytes) : "-"};
    for (const auto& name : metrics) {
      const auto at = each.metrics.find(name);
      cells.push_back(at == each.metrics.end() ? "-" : number_text(at->second));
    }
    const auto at = removed.find(each.name);
    cells.push_back(at != removed.end() ? "would be removed" : "");
    rows.row(std::move(cells));
    bytes += each.bytes;
  }
  rows.print();
  std::cout << count_text(all.size(), "checkpoint") << ", " << size_text(bytes) << '\n';
  for (const auto& each : all)
    if (!each.problem.empty()) std::cout << without_prefix(each.problem) << '\n';
  if (!removed.empty()) std::cout << "prune --yes with the same rules removes what is marked\n";
  return 0;
}

int prune(const std::string& run, const retention& rules, bool really, bool json) {
  if (!rules.keep_last && !rules.keep_every && !rules.keep_best)
    cairn::fail(cairn::errc::invalid, {"prune needs a rule: --keep-last, --keep-every or --keep-best"});
  if (cairn::list_checkpoints(run).empty()) cairn::fail(cairn::errc::not_found, {"there is no checkpoint in ", run});
  cairn::any_store store = cairn::stores::directory(run);
  const auto lock = really ? store.lock() : nullptr;  // errc::busy while a trainer saves there
  const auto all = cairn::list_checkpoints(store);
  for (const auto& each : all)
    if (!each.problem.empty())
      cairn::fail(cairn::errc::corrupt,
                  {"nothing is removed while an index cannot be read: ", without_prefix(each.problem)});
  const auto removals = planned_removals(all, rules);
  try {
    static_cast<void>(cairn::open(store, all.back().name));  // the newest one, which stays, and all that it is built on
  } catch (const cairn::error& cause) {
    cairn::fail(cause.code(),
                {"nothing is removed while the newest checkpoint cannot be opened: ", without_prefix(cause.what())});
  }
  if (really) std::signal(SIGPIPE, SIG_IGN);  // a reader of the output that ends does not end the removals
  std::map<std::string, std::uint64_t> bytes_of;
  for (const auto& each : all) bytes_of[each.name] = each.bytes;
  std::uint64_t bytes = 0, removed = 0;
  std::vector<std::string> lines;
  auto made = json_value::array();
  const auto report = [&] {
    if (json) return print(made);
    for (const auto& each : lines) std::cout << each << '\n';
    std::cout << (really ? "removed " : "would remove ") << removed << " of " << count_text(all.size(), "checkpoint")
              << ", " << size_text(bytes) << (really || removed == 0 ? "" : "; --yes removes them") << '\n';
  };
  for (const auto& each : removals) {
    if (really) try {
        store.remove(each.name);
      } catch (...) {
        report();
        throw;
      }
    bytes += bytes_of[each.name];
    ++removed;
    made.push_back(
        {{"name", each.name}, {"reason", each.reason}, {"bytes", bytes_of[each.name]}, {"is_removed", really}});
    lines.push_back((really ? "removed " : "would remove ") + printable(each.name) + ", " + reason_of(each));
  }
  report();
  return 0;
}

int merge(const std::string& checkpoint) {
  const auto opened = cairn::open(checkpoint).path();  // of a run, that of its newest checkpoint
  if (cairn::detail::is_file(opened))
    cairn::fail(cairn::errc::invalid, {"merge takes a checkpoint or a run; ", opened, " is a file"});
  const auto [place, name] = cairn::detail::split_path(opened);
  cairn::any_store store = cairn::stores::directory(place);
  const auto lock = store.lock();
  const auto report = cairn::merge_checkpoints(store, name);
  if (report.deltas == 0)
    std::cout << printable(name) << " is whole already\n";
  else
    std::cout << "merged " << count_text(report.deltas, "delta") << " into " << printable(name) << ", "
              << size_text(report.bytes) << '\n';
  return 0;
}

int verify(const std::string& path, bool all, bool json) {
  std::vector<std::string> paths{path};
  if (all) {
    paths.clear();
    for (const auto& each : cairn::list_checkpoints(path)) paths.push_back(path + "/" + each.name);
    if (paths.empty()) cairn::fail(cairn::errc::not_found, {"there is no checkpoint in ", path});
  }
  int status = 0;
  auto made = json_value::array();
  progress shown(paths.size());
  std::vector<std::string> lines;
  for (const auto& each : paths) {
    std::string problem, verified = each;
    try {
      const auto opened = cairn::open(each);
      verified = opened.path();
      opened.verify();
    } catch (const cairn::error& cause) {
      const bool is_damage = cause.code() == cairn::errc::corrupt || cause.code() == cairn::errc::unreadable;
      if (paths.size() == 1 && !is_damage) throw;
      problem = without_prefix(cause.what());
      status = std::max(status, is_damage ? 1 : 2);
    }
    shown.add(each);
    json_value one{{"path", verified}, {"is_intact", problem.empty()}};
    if (!problem.empty()) one["problem"] = problem;
    made.push_back(std::move(one));
    lines.push_back(printable(verified) + (!problem.empty() ? ": " + problem
                                           : cairn::detail::is_file(verified)
                                               ? ": the checksums that the file has match"
                                               : ": all checksums match"));
  }
  if (json)
    print(made);
  else
    for (const auto& each : lines) std::cout << each << '\n';
  return status;
}

}  // namespace program
