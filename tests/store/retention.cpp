// SPDX-License-Identifier: MIT
#include "cairn/store/retention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

cairn::detail::retained_entry entry(std::uint64_t step, double loss = 0) {
  return {"step-" + std::to_string(step), step, {{"loss", loss}}, false, {}};
}

std::set<std::string> removed(const std::vector<cairn::detail::retained_entry>& entries,
                              const cairn::detail::retention_rules& rules) {
  std::set<std::string> names;
  for (const auto& removal : cairn::detail::plan_retention(entries, rules)) names.insert(removal.name);
  return names;
}

}  // namespace

TEST_CASE("what a rule, a pin or a need wants is never removed, and everything else is") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<cairn::detail::retained_entry> entries;
    const std::size_t count = random() % 12;
    for (std::size_t i = 0; i < count; ++i) {
      auto made = entry(10 * i, static_cast<double>(random() % 5));
      made.pinned = random() % 8 == 0;
      if (i > 0 && random() % 4 == 0) made.needs.push_back(entries[random() % i].name);
      entries.push_back(made);
    }
    std::shuffle(entries.begin(), entries.end(), random);
    cairn::detail::retention_rules rules;
    if (random() % 2) rules.keep_last = random() % 4 + 1;
    if (random() % 2) rules.keep_best = cairn::keep_best_rule{"loss", random() % 3 + 1, random() % 2 == 0};
    if (random() % 2) rules.keep_every = random() % 40 + 1;
    const auto gone = removed(entries, rules);
    const bool any_rule = rules.keep_last || rules.keep_best || rules.keep_every;
    if (!any_rule) CHECK(gone.empty());

    std::uint64_t newest = 0;
    for (const auto& e : entries) newest = std::max(newest, e.step);
    for (const auto& e : entries) {
      const bool kept = !gone.contains(e.name);
      if (e.pinned || e.step == newest) CHECK(kept);
      std::size_t newer = 0, better = 0;
      for (const auto& other : entries) {
        newer += other.step > e.step;
        const double a = other.metrics.at("loss"), b = e.metrics.at("loss");
        const bool lower = !rules.keep_best || rules.keep_best->lower_is_better;
        better += a == b ? other.step > e.step : (a < b) == lower;
      }
      const bool last = rules.keep_last && newer < *rules.keep_last;
      const bool best = rules.keep_best && better < rules.keep_best->count;
      const auto multiple = rules.keep_every ? e.step / *rules.keep_every : 0;
      const bool every = rules.keep_every && (multiple > 0 || e.step == 0) &&
                         std::none_of(entries.begin(), entries.end(), [&](const auto& other) {
                           return other.step < e.step && other.step / *rules.keep_every == multiple;
                         });
      if (last || best || every) CHECK(kept);
      bool needed = false;
      for (const auto& other : entries)
        if (!gone.contains(other.name))
          for (const auto& need : other.needs) needed |= need == e.name;
      if (needed) CHECK(kept);
      if (any_rule && !last && !best && !every && !needed && !e.pinned && e.step != newest) CHECK_FALSE(kept);
    }
  }
}

TEST_CASE("a metric that no usable checkpoint has makes none of them worse: all are kept") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<cairn::detail::retained_entry> entries{entry(1, nan), entry(2, nan), entry(3, 5), entry(4, nan)};
  const cairn::detail::retention_rules rules{.keep_last = 1, .keep_best = cairn::keep_best_rule{}, .keep_every = {}};
  CHECK(has_metric(entries, *rules.keep_best));
  CHECK(removed(entries, rules) == std::set<std::string>{"step-1", "step-2"});
  entries[2].is_usable = false;
  CHECK_FALSE(has_metric(entries, *rules.keep_best));
  CHECK(removed(entries, rules).empty());
  auto other = rules;
  other.keep_best->metric = "f1";
  CHECK(removed({entry(1), entry(2), entry(3)}, other).empty());
  CHECK(removed({}, rules).empty());
}

TEST_CASE("the newest checkpoint with a finite loss stays while a newer one has none") {
  const double losses[] = {2, 1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()};
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<cairn::detail::retained_entry> entries;
    for (std::size_t i = 0; i < 10; ++i) {
      auto made = entry(i, losses[random() % std::size(losses)]);
      if (random() % 4 == 0) made.metrics.clear();
      if (i > 0 && random() % 3 == 0) made.needs.push_back(entries[random() % i].name);
      made.is_usable = random() % 8 != 0;
      entries.push_back(made);
    }
    cairn::detail::retention_rules rules{.keep_last = random() % 3 + 1, .keep_best = {}, .keep_every = {}};
    if (random() % 2) rules.keep_best = cairn::keep_best_rule{"accuracy", 1, false};
    for (auto& each : entries) each.metrics["accuracy"] = static_cast<double>(random() % 5);
    const auto gone = removed(entries, rules);
    bool is_bad = false;
    std::string needed;
    for (auto at = entries.rbegin(); at != entries.rend() && needed.empty(); ++at) {
      if (!at->is_usable || !at->metrics.contains("loss")) continue;
      const bool is_good = std::isfinite(at->metrics.at("loss"));
      if (is_good && !is_bad) break;  // the rules say whether it stays
      if (is_good) needed = at->name;
      is_bad = true;
    }
    // With all that it is built on.
    for (std::vector<std::string> stays{needed}; !needed.empty() && !stays.empty();) {
      const auto name = stays.back();
      stays.pop_back();
      CHECK_FALSE(gone.contains(name));
      for (const auto& each : entries)
        if (each.name == name) stays.insert(stays.end(), each.needs.begin(), each.needs.end());
    }
  }
  const double nan = losses[2];
  CHECK(removed({entry(1, 5), entry(2, 4), entry(3, nan), entry(4, nan)},
                {.keep_last = 1, .keep_best = {}, .keep_every = {}}) == std::set<std::string>{"step-1", "step-3"});
  // The loss is finite again: the rules alone count.
  CHECK(removed({entry(1, 5), entry(2, 4), entry(3, nan), entry(4, 3)},
                {.keep_last = 1, .keep_best = {}, .keep_every = {}}) ==
        std::set<std::string>{"step-1", "step-2", "step-3"});
}

TEST_CASE("the newest checkpoint with a finite loss stays when later saves have no loss") {
  const cairn::detail::retention_rules rules{.keep_last = 2, .keep_best = {}, .keep_every = {}};
  std::vector<cairn::detail::retained_entry> entries{entry(1, 5), entry(2, 4),
                                                     entry(3, std::numeric_limits<double>::quiet_NaN())};
  const auto save = [&](cairn::detail::retained_entry next) {
    entries.push_back(std::move(next));
    const auto gone = removed(entries, rules);
    std::erase_if(entries, [&](const auto& each) { return gone.contains(each.name); });
  };
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(entries, [&](const auto& each) { return each.name == name; });
  };
  for (std::uint64_t step = 4; step < 9; ++step) {
    auto without = entry(step, 0);
    without.metrics.clear();
    save(without);
    CHECK(has("step-2"));
    CHECK_FALSE(has("step-1"));
  }
  save(entry(9, 1));  // the loss is finite again
  CHECK_FALSE(has("step-2"));
  CHECK(entries.size() == 2);
}

TEST_CASE("keep_every keeps the first at or after each multiple: saves may come late") {
  const std::vector entries{entry(10),   entry(990),  entry(1003), entry(1100),
                            entry(2000), entry(2001), entry(4999), entry(5100)};
  CHECK(removed(entries, {.keep_last = {}, .keep_best = {}, .keep_every = 1000}) ==
        std::set<std::string>{"step-10", "step-990", "step-1100", "step-2001"});
}

TEST_CASE("what is built on another is removed before it") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<cairn::detail::retained_entry> entries;
    for (std::size_t i = 0; i < 10; ++i) {
      auto made = entry(i);
      if (i > 0 && random() % 2 == 0) made.needs.push_back(entries[random() % i].name);
      entries.push_back(made);
    }
    auto shuffled = entries;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::set<std::string> gone;
    for (const auto& removal :
         cairn::detail::plan_retention(shuffled, {.keep_last = 1, .keep_best = {}, .keep_every = {}})) {
      gone.insert(removal.name);
      for (const auto& each : entries)
        if (!gone.contains(each.name))
          CHECK(std::none_of(each.needs.begin(), each.needs.end(),
                             [&](const auto& need) { return gone.contains(need); }));
    }
  }
}

TEST_CASE("what does not count is kept, with what it needs, and takes nobody's place") {
  std::vector<cairn::detail::retained_entry> entries{entry(1), entry(2), entry(3), entry(4), entry(5)};
  entries[3].is_usable = entries[4].is_usable = false;
  entries[4].needs = {"step-1"};
  CHECK(removed(entries, {.keep_last = 1, .keep_best = {}, .keep_every = {}}) == std::set<std::string>{"step-2"});
  for (auto& each : entries) each.is_usable = false;
  CHECK(removed(entries, {.keep_last = 1, .keep_best = {}, .keep_every = {}}).empty());
}

TEST_CASE("a rule that keeps nothing is refused") {
  for (const auto& rules : {cairn::detail::retention_rules{.keep_last = 0, .keep_best = {}, .keep_every = {}},
                            {.keep_last = {}, .keep_best = cairn::keep_best_rule{.count = 0}, .keep_every = {}},
                            {.keep_last = {}, .keep_best = {}, .keep_every = 0}}) {
    const auto failure = sample::failure_of([&] { removed({entry(1)}, rules); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("is 0"));
  }
}
