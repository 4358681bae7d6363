// SPDX-License-Identifier: MIT
// Definitions of chain/load.hpp: the choice of the checkpoint.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/chain/load.hpp"
#include "cairn/chain/load.ipp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

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

std::vector<std::string> names_from_leader(team& ranks, const list_checkpoints& list) {
  if (ranks.is_alone()) return list();
  const auto text = ranks.from_leader([&] {
    std::string all;
    for (const auto& name : list()) all += name + '/';  // which no name has
    return all;
  });
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('/', at);
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
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

std::optional<load_report> restore_first(const any_store& store, const list_checkpoints& candidates,
                                         any_mutable_state state, const load_options& options, const observer& on_event,
                                         team& ranks) {
  constexpr int most_lists = 20;
  path_set changed;  // an error after the first change says so
  for (int lists = 1;; ++lists) {
    const auto names = names_from_leader(ranks, candidates);
    std::vector<skipped_checkpoint> skipped;
    bool has_gone = false;  // by retention of another process: it says nothing about what is there
    for (const auto& name : names) {
      try {
        auto report = restore_one(store, name, state, options, on_event, changed, ranks);
        report.skipped = std::move(skipped);
        return report;
      } catch (const error& cause) {
        has_gone = cause.code() == errc::not_found && lists < most_lists;
        if (has_gone) break;
        if (!is_of_checkpoint(cause.code())) throw;
        skipped.push_back({name, std::string(cause.sentence())});
        notify(on_event, {.what = event::kind::fell_back,
                          .checkpoint = store.location() + "/" + name,
                          .step = parse_checkpoint_name(name).value_or(0),
                          .message = std::string(cause.sentence()),
                          .code = cause.code()});
      }
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
  const auto newest_first = [&] {
    auto names = store.list();
    std::ranges::reverse(names);
    return names;
  };
  const auto wanted = [&] {
    auto names = store.list();
    const auto found = std::ranges::find(names, options.step, parse_checkpoint_name);
    if (found == names.end())
      fail(errc::not_found,
           {"there is no checkpoint of step ", *options.step, " in ", store.location(),
            names.empty() ? missing_advice(store.location())
                          : "; there are " + std::to_string(names.size()) + ", the newest is " + names.back()});
    return std::vector{std::move(*found)};
  };
  return options.step ? restore_first(store, wanted, state, options, on_event, ranks)
                      : restore_first(store, newest_first, state, options, on_event, ranks);
}

}  // namespace cairn::inline v0_1::detail
