// Which checkpoints to keep: a union of rules, as a pure function. Its answer is the dry run; a store applies
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/store/order.hpp"

namespace cairn {

/// A published checkpoint, as retention sees it.
struct retained_entry {
  std::string name{};
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  bool pinned = false;               ///< never removed
  std::vector<std::string> needs{};  ///< names of the checkpoints that this one is built on
  bool counts = true;                ///< for the rules; one that does not is kept, with what it needs
};

/// Keep the `count` checkpoints with the best `metric`.
struct keep_best_rule {
  std::string metric = "loss";
  std::size_t count = 1;
  bool lower_is_better = true;
};

/// What to keep; a checkpoint stays when any rule wants it. No rule at all keeps everything.
struct retention_rules {
  std::optional<std::size_t> keep_last;     ///< the newest ones
  std::optional<keep_best_rule> keep_best;  ///< entries without the metric, or with NaN, never count as best
  std::optional<std::uint64_t> keep_every;  ///< steps that are multiples of this; 0: none
};

struct removal {
  std::string name;
  std::string reason;  ///< one sentence for people
};

/// The checkpoints that no rule keeps, newest first: to be removed in this order, so that none is ever without what it is built on. The
/// newest one is never among them, nor is a pinned one, nor what a kept one needs, directly or not. O(n log n).
[[nodiscard]] inline std::vector<removal> plan_retention(std::span<const retained_entry> entries,
                                                         const retention_rules& rules) {
  if (entries.empty() || (!rules.keep_last && !rules.keep_best && !rules.keep_every)) return {};
  std::vector<const retained_entry*> newest_first;
  for (const auto& entry : entries)
    if (entry.counts) newest_first.push_back(&entry);
  sort_items(newest_first,
             [](const auto* a, const auto* b) { return a->step != b->step ? a->step > b->step : a->name > b->name; });

  std::map<std::string_view, const retained_entry*> by_name;
  for (const auto& entry : entries) by_name.emplace(entry.name, &entry);
  std::map<std::string_view, bool> kept;
  std::vector<const retained_entry*> waiting;
  const auto keep = [&](const retained_entry* entry) {
    if (!kept.emplace(entry->name, true).second) return;
    waiting.push_back(entry);
  };

  for (const auto& entry : entries)
    if (!entry.counts) keep(&entry);
  if (!newest_first.empty()) keep(newest_first.front());
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    const auto* entry = newest_first[i];
    if (entry->pinned || (rules.keep_last && i < *rules.keep_last)) keep(entry);
    if (rules.keep_every && *rules.keep_every != 0 && entry->step % *rules.keep_every == 0) keep(entry);
  }
  if (rules.keep_best) {
    const auto value = [&](const retained_entry* entry) -> std::optional<double> {
      const auto at = entry->metrics.find(rules.keep_best->metric);
      if (at == entry->metrics.end() || std::isnan(at->second)) return std::nullopt;
      return rules.keep_best->lower_is_better ? at->second : -at->second;
    };
    std::vector<std::pair<double, std::size_t>> ranked;  // of equals, the newer is the better
    for (std::size_t i = 0; i < newest_first.size(); ++i)
      if (const auto v = value(newest_first[i])) ranked.emplace_back(*v, i);
    sort_items(ranked, std::less<>());
    for (std::size_t i = 0; i < std::min(ranked.size(), rules.keep_best->count); ++i)
      keep(newest_first[ranked[i].second]);
  }
  while (!waiting.empty()) {
    const auto* entry = waiting.back();
    waiting.pop_back();
    for (const auto& need : entry->needs)
      if (const auto at = by_name.find(need); at != by_name.end()) keep(at->second);
  }

  std::string rule_text;
  const auto mention = [&](const std::string& text) { rule_text += (rule_text.empty() ? "" : ", nor ") + text; };
  if (rules.keep_last) mention("one of the last " + std::to_string(*rules.keep_last));
  if (rules.keep_best)
    mention("one of the best " + std::to_string(rules.keep_best->count) + " by " + rules.keep_best->metric);
  if (rules.keep_every) mention("a multiple of " + std::to_string(*rules.keep_every) + " steps");
  std::vector<removal> plan;
  for (const auto* entry : newest_first)
    if (!kept.contains(entry->name)) plan.push_back({entry->name, entry->name + " is not " + rule_text});
  return plan;
}

}  // namespace cairn
