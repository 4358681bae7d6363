// SPDX-License-Identifier: MIT
// The places of cairn::levels, numbered from 0, the nearest: what is in them, and which of it belongs to the run.
//
// Each checkpoint says when its run began (run_began). A run begins later than all runs whose checkpoints it has seen.
// So where two machines have gone on from one checkpoint, which only happens when one was taken for lost, the later run
// is the one that counts: checkpoints of earlier runs from its first step on, at the same place or a nearer one, are
// abandoned. They are not listed, and each place removes them after the next run has saved there. A checkpoint that
// does not say it, as of a run in one place, is taken for one of the run of the checkpoint before it at its place.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/levels.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::detail {

class level_copier;

class level_list final : public level_set, public std::enable_shared_from_this<level_list> {
 public:
  explicit level_list(std::vector<level> places) : levels_(std::move(places)), names_(levels_.size()) { check(); }

  [[nodiscard]] std::size_t size() const override { return levels_.size(); }
  [[nodiscard]] any_store& place(std::size_t number) override { return levels_[number].place; }
  [[nodiscard]] const any_store& place(std::size_t number) const { return levels_[number].place; }
  [[nodiscard]] const level_options& options(std::size_t number) const { return levels_[number].options; }
  [[nodiscard]] std::optional<std::size_t> keep_last(std::size_t number) const override {
    return levels_[number].options.keep_last;
  }
  [[nodiscard]] double began() const override {
    const mutex_lock lock(mutex_);
    return began_;
  }
  [[nodiscard]] std::unique_ptr<level_copies> start(const checkpointer_options& options, unsigned rank, unsigned ranks,
                                                    std::function<void(const event&)> on_event) override;

  /// The sum of the leases: `lock` waits for each place in turn.
  [[nodiscard]] std::chrono::milliseconds lease() const {
    std::chrono::milliseconds sum{};
    for (const auto& each : levels_) sum += each.place.lease();
    return sum;
  }

  /// Locks all places, and looks at what is there.
  [[nodiscard]] stores::ownership lock() {
    auto held = std::make_shared<locked>();
    for (auto& each : levels_) held->places.push_back(each.place.lock());
    held->of = shared_from_this();
    survey(true);
    return held;
  }

  /// Those of all places that are not abandoned. With the lock, only the first place is asked.
  [[nodiscard]] std::vector<std::string> list() const {
    if (!is_locked()) survey(false);
    std::set<std::string> names;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      for (auto& name : names_at(i, false)) names.insert(std::move(name));
    std::vector<std::string> sorted(names.begin(), names.end());
    sort_items(sorted, checkpoint_before);
    return sorted;
  }
  [[nodiscard]] std::vector<std::size_t> having(const std::string& name) const override {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      if (std::ranges::count(names_at(i, false), name) != 0) numbers.push_back(i);
    return numbers;
  }
  [[nodiscard]] std::vector<std::string> abandoned(std::size_t number) const override {
    auto names = names_at(number, true);
    sort_items(names, [](const auto& a, const auto& b) { return checkpoint_before(b, a); });
    return names;
  }
  void remove_abandoned() override;

  /// From the nearest place that has it.
  [[nodiscard]] std::shared_ptr<const stores::publication> open(const std::string& name) const {
    if (!is_surveyed_) survey(false);
    for (const auto number : having(name)) {
      try {
        return levels_[number].place.open(name);
      } catch (const error& cause) {
        if (cause.code() != errc::not_found) throw;
      }
    }
    fail(errc::not_found, {"there is no checkpoint ", levels_[0].place.location(), "/", name});
  }
  /// From all places, the farthest first: what is left after a crash is nearer. errc::not_found if no place has it.
  void remove(const std::string& name);

  /// What a copier finds at its place, of which the run has the lock.
  void set_names(std::size_t number, std::vector<std::string> names) {
    const mutex_lock lock(mutex_);
    names_[number] = std::move(names);
  }
  /// The run has published the checkpoint at that place.
  void published(std::size_t number, const std::string& name) {
    const mutex_lock lock(mutex_);
    abandoned_.erase({number, name});
    auto& names = names_[number];
    if (number != 0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  void removed(std::size_t number, const std::string& name) {
    const mutex_lock lock(mutex_);
    abandoned_.erase({number, name});
    std::erase(names_[number], name);
  }
  /// The copiers of the run that has the lock.
  void set_copiers(std::vector<std::weak_ptr<level_copier>> all) {
    const mutex_lock lock(mutex_);
    copiers_ = std::move(all);
  }
  [[nodiscard]] std::vector<std::shared_ptr<level_copier>> copiers() const {
    std::vector<std::shared_ptr<level_copier>> all;
    const mutex_lock lock(mutex_);
    for (const auto& each : copiers_)
      if (auto one = each.lock()) all.push_back(std::move(one));
    return all;
  }

 private:
  /// The locks of all places.
  struct locked {
    locked() = default;
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() {
      if (of) of->unlocked();
    }
    std::shared_ptr<level_list> of{};
    std::vector<stores::ownership> places{};
  };

  /// A checkpoint at a place.
  struct found {
    std::size_t place;
    std::string name;
    std::uint64_t step;
    std::optional<double> began;  // none: it does not say, or its index is damaged
  };

  void check() const {
    constexpr std::size_t most = 8;
    if (levels_.size() > most) fail(errc::invalid, {levels_.size(), " places are given: at most 8 are possible"});
    std::set<std::string> seen;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const auto& [place, options] = levels_[i];
      const auto invalid = [&](std::string_view option, std::string_view why) {
        fail(errc::invalid, {option, " of the place ", place.location(), " ", why});
      };
      if (options.keep_last == std::size_t{0}) invalid("keep_last", "is 0: std::nullopt is no rule");
      if (options.every && !(options.every->count() >= 0)) invalid("every", "is below 0");
      if (options.max_bytes_per_second && !is_positive(*options.max_bytes_per_second))
        invalid("max_bytes_per_second", "is not above 0");
      if (i == 0 && (options.every || options.max_bytes_per_second))
        fail(errc::invalid, {"the first place, ", place.location(),
                             ", gets no copies: every and max_bytes_per_second "
                             "are for the others"});
      if (place.levels()) fail(errc::invalid, {"a place of levels is itself of several places"});
      if (place.hosts() && i > 0) fail(errc::invalid, {"each_host has to be the first place"});
      if (!seen.insert(place.location()).second) fail(errc::invalid, {place.location(), " is given twice"});
    }
    if (levels_.size() < 2) fail(errc::invalid, {"levels has ", levels_.size(), " places: it needs two or more"});
  }

  [[nodiscard]] bool is_locked() const {
    const mutex_lock lock(mutex_);
    return is_locked_;
  }
  void unlocked() {
    const mutex_lock lock(mutex_);
    is_locked_ = false;
  }

  /// The names at a place, those that are abandoned or the others.
  [[nodiscard]] std::vector<std::string> names_at(std::size_t number, bool are_abandoned) const {
    const auto nearest = number == 0 ? levels_[0].place.list() : std::vector<std::string>();
    const mutex_lock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& name : number == 0 ? nearest : names_[number])
      if (abandoned_.contains({number, name}) == are_abandoned) names.push_back(name);
    return names;
  }

  [[nodiscard]] static std::optional<double> began_of(const any_store& place, const std::string& name) {
    try {
      return began_in(read_index(*place.open(name), index_part::metadata).info.notes);
    } catch (const error& cause) {
      if (cause.code() == errc::io || cause.code() == errc::no_memory) throw;
    }
    return std::nullopt;
  }

  /// Lists all places, and finds out what is abandoned. Without the lock, discards its result if the lock has been
  /// taken meanwhile.
  void survey(bool locks) const {
    std::vector<std::vector<found>> all(levels_.size());
    std::vector<std::vector<std::string>> names(levels_.size());
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      names[i] = levels_[i].place.list();  // by step
      for (const auto& name : names[i])
        if (const auto step = parse_checkpoint_name(name))
          all[i].push_back({i, name, *step, began_of(levels_[i].place, name)});
    }
    double latest = 0;
    std::set<std::pair<std::size_t, std::string>> abandoned;
    std::vector<found> here;  // of this place and all farther ones, by step
    for (std::size_t i = levels_.size(); i-- > 0;) {
      double before = 0;
      for (auto& each : all[i]) {
        before = each.began.value_or(before);
        each.began = before;
        latest = std::max(latest, before);
      }
      here.insert(here.end(), all[i].begin(), all[i].end());
      sort_items(here, [](const found& a, const found& b) { return a.step < b.step; });
      double until = 0;  // latest beginning of a run that has this step or an earlier one
      for (std::size_t at = 0, next = 0; at < here.size(); ++at) {
        for (; next < here.size() && here[next].step == here[at].step; ++next)
          until = std::max(until, *here[next].began);
        if (here[at].place == i && *here[at].began < until) abandoned.insert({i, here[at].name});
      }
    }
    const mutex_lock lock(mutex_);
    if (!locks && is_locked_) return;
    names_ = std::move(names);
    abandoned_ = std::move(abandoned);
    began_ = begin_after(latest);
    is_locked_ = is_locked_ || locks;
    is_surveyed_ = true;
  }

  std::vector<level> levels_;
  mutable mutex mutex_;
  mutable std::atomic<bool> is_surveyed_{false};
  mutable bool is_locked_ CAIRN_GUARDED_BY(mutex_) = false;                       // by this process
  mutable std::vector<std::vector<std::string>> names_ CAIRN_GUARDED_BY(mutex_);  // by place; of the first one unused
  mutable std::set<std::pair<std::size_t, std::string>> abandoned_ CAIRN_GUARDED_BY(mutex_);
  mutable double began_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::vector<std::weak_ptr<level_copier>> copiers_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn::inline v0_1::detail
