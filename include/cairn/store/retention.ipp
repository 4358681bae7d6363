// SPDX-License-Identifier: MIT
// Definitions of retention.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "cairn/core/float_bits.hpp"
#include "cairn/system/sort.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::inline v0_1::detail {

void check_rules(const retention_rules& rules) {
  const auto fail_zero = [](std::string_view rule) { fail(errc::invalid, {rule, " is 0: std::nullopt is no rule"}); };
  if (rules.keep_last == std::size_t{0}) fail_zero("keep_last");
  if (rules.keep_best && rules.keep_best->count == 0) fail_zero("keep_best.count");
  if (rules.keep_every == std::uint64_t{0}) fail_zero("keep_every");
}

inline bool has_metric(const retained_entry& entry, const keep_best_rule& rule) {
  const auto at = entry.metrics.find(rule.metric);
  return at != entry.metrics.end() && is_finite(at->second);
}

bool has_metric(std::span<const retained_entry> entries, const keep_best_rule& rule) {
  return std::ranges::any_of(entries, [&](const auto& each) { return each.is_usable && has_metric(each, rule); });
}

using retained_entries = std::vector<const retained_entry*>;

/// The `rule.count` best of `newest_first`. Of equals, the newer ones.
[[nodiscard]] inline retained_entries best_entries(const retained_entries& newest_first, const keep_best_rule& rule) {
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    if (!has_metric(*newest_first[i], rule)) continue;
    const double value = newest_first[i]->metrics.at(rule.metric);
    ranked.emplace_back(rule.lower_is_better ? value : -value, i);
  }
  sort_items(ranked, std::less<>());
  retained_entries best;
  for (const auto& [value, i] : std::span(ranked).first(std::min(ranked.size(), rule.count)))
    best.push_back(newest_first[i]);
  return best;
}

/// Adds to `kept` what its entries are built on, directly or not.
inline void keep_needs(std::span<const retained_entry> entries, std::set<std::string_view>& kept) {
  std::map<std::string_view, const retained_entry*> by_name;
  for (const auto& entry : entries) by_name.emplace(entry.name, &entry);
  std::vector<std::string_view> waiting(kept.begin(), kept.end());
  while (!waiting.empty()) {
    const auto* entry = by_name.find(waiting.back())->second;
    waiting.pop_back();
    for (const auto& need : entry->needs)
      if (const auto at = by_name.find(need); at != by_name.end() && kept.insert(at->first).second)
        waiting.push_back(at->first);
  }
}

/// "one of the last 3, nor the first from a multiple of 100 steps on"
[[nodiscard]] inline std::string describe_rules(const retention_rules& rules) {
  std::string all;
  const auto mention = [&](const std::string& text) { all += (all.empty() ? "" : ", nor ") + text; };
  if (rules.keep_last) mention("one of the last " + std::to_string(*rules.keep_last));
  if (rules.keep_best)
    mention("one of the best " + std::to_string(rules.keep_best->count) + " by " + rules.keep_best->metric);
  if (rules.keep_every) mention("the first from a multiple of " + std::to_string(*rules.keep_every) + " steps on");
  return all;
}

/// Whether entry `i` is the oldest from a multiple of `steps`, not 0 unless that step itself is there, to the next one.
[[nodiscard]] inline bool is_first_from_multiple(const retained_entries& newest_first, std::size_t i,
                                                 std::uint64_t steps) {
  const auto step = newest_first[i]->step, multiple = step / steps;
  if (multiple == 0) return step == 0;
  return i + 1 == newest_first.size() || newest_first[i + 1]->step / steps < multiple;
}

std::vector<removal> plan_retention(std::span<const retained_entry> entries, const retention_rules& rules) {
  check_rules(rules);
  if (!rules.any()) return {};
  if (rules.keep_best && !has_metric(entries, *rules.keep_best)) return {};
  retained_entries newest_first;
  std::set<std::string_view> kept;
  for (const auto& entry : entries) {
    if (entry.is_usable)
      newest_first.push_back(&entry);
    else
      kept.insert(entry.name);
  }
  sort_items(newest_first,
             [](const auto* a, const auto* b) { return a->step != b->step ? a->step > b->step : a->name > b->name; });
  // While the newest loss is not finite, it stays, so that later saves without a loss know of it, and the newest finite
  // one stays.
  const auto has_loss = [](const auto* each) { return each->metrics.contains("loss"); };
  const auto has_finite = [&](const auto* each) { return has_loss(each) && is_finite(each->metrics.at("loss")); };
  const auto with_loss = std::find_if(newest_first.begin(), newest_first.end(), has_loss);
  const auto finite = std::find_if(with_loss, newest_first.end(), has_finite);
  if (finite != newest_first.end() && finite != with_loss) kept.insert({(*with_loss)->name, (*finite)->name});
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    const auto& entry = *newest_first[i];
    const bool is_last = i == 0 || (rules.keep_last && i < *rules.keep_last);
    if (is_last || (rules.keep_every && is_first_from_multiple(newest_first, i, *rules.keep_every)) || entry.pinned)
      kept.insert(entry.name);
  }
  if (rules.keep_best)
    for (const auto* entry : best_entries(newest_first, *rules.keep_best)) kept.insert(entry->name);
  keep_needs(entries, kept);

  const auto rule_text = describe_rules(rules);
  std::vector<removal> plan;
  for (const auto* entry : newest_first)
    if (!kept.contains(entry->name)) plan.push_back({entry->name, entry->name + " is not " + rule_text});
  return plan;
}

}  // namespace cairn::inline v0_1::detail
