// SPDX-License-Identifier: MIT
// How often checkpoints are copied to the farther ones of several places: by what copies take from the training, and by
// how often a failed run could be restored from no nearer place.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/core/policy_memory.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/means.hpp"
#include "cairn/schedule/mtbf.hpp"

namespace cairn::inline v0_1::schedule {

/// A place that checkpoints are copied to.
struct level_cost {
  double taken = 0;  ///< by a copy from the training, in seconds
  double rate = 0;   ///< of the failures for which this is the nearest place that survives, per second
  double lag = 0;    ///< from the beginning of a copy until it can be restored, in seconds
};

/// The periods of copies, in seconds, that cost least; infinite for a place that is left out. The nearest place is the
/// first one, and none is copied to more often than a nearer one. With C = taken, f = rate and B = lag, copies every T
/// seconds and failures cost, per second,
///   sum over places of C / T + f (T / 2 + B).
/// The best T is sqrt(2 C / f). Neighbours that would be out of order have one period, sqrt(2 sum of C / sum of f):
/// pool adjacent violators. Any place but the last may be left out; its failures go to the next one. All subsets are
/// compared. The first-order optimum of Benoit et al., "Towards Optimal Multi-Level Checkpointing" (IEEE Transactions
/// on Computers 66(7), 2017), where each copy includes the copies to nearer places. O(n 2^n).
[[nodiscard]] inline std::vector<double> level_periods(std::span<const level_cost> places) {
  struct pool {
    double taken, rate;
    std::vector<std::size_t> places;
  };
  std::vector<double> best(places.size(), cairn::detail::infinite());
  double least = cairn::detail::infinite();
  const std::size_t subsets = places.empty() ? 0 : std::size_t{1} << (places.size() - 1);
  for (std::size_t chosen = subsets; chosen-- > 0;) {
    std::vector<pool> pools;
    double cost = 0, rate = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      rate += places[i].rate;
      const bool is_chosen = i + 1 == places.size() || ((chosen >> i) & 1U) != 0;
      if (!is_chosen) continue;
      cost += rate * places[i].lag;
      pools.push_back({places[i].taken, std::exchange(rate, 0.0), {i}});
      while (pools.size() > 1) {
        auto &before = pools[pools.size() - 2], &last = pools.back();
        if (before.taken * last.rate <= last.taken * before.rate) break;
        before.taken += last.taken;
        before.rate += last.rate;
        before.places.insert(before.places.end(), last.places.begin(), last.places.end());
        pools.pop_back();
      }
    }
    for (const auto& each : pools) cost += std::sqrt(2 * each.taken * each.rate);
    if (!(cost < least)) continue;
    least = cost;
    std::ranges::fill(best, cairn::detail::infinite());
    for (const auto& each : pools)
      for (const auto i : each.places) best[i] = young_interval(each.taken, 1 / each.rate);
  }
  return best;
}

/// What a run learns for that. Places are numbered from 0, the nearest one that is copied to. A failure counts for the
/// place that the run was restored from: the nearest one that could.
class level_schedule {
 public:
  /// `priors`: of the failures of the whole job, for each place.
  explicit level_schedule(std::span<const mtbf_prior> priors) {
    for (const auto& prior : priors) places_.emplace_back(prior);
  }
  explicit level_schedule(std::size_t places)
      : level_schedule(std::vector<mtbf_prior>(places, mtbf_prior{.mtbf = std::chrono::days{30}})) {}

  /// The run has worked for that long. Amortised O(1).
  void worked(double seconds) {
    for (auto& each : places_) each.failures.worked(seconds);
  }
  /// A copy was made in `seconds`, and took `taken` of them from the training.
  void copied(std::size_t place, double taken, double seconds) {
    places_[place].taken.add(taken);
    places_[place].lag.add(seconds);
  }
  /// The run continues from a checkpoint. `how.level` is 0 for the place of the saves, and for the others one more than
  /// the number here.
  void restarted(const restart& how) {
    if (!how.after_failure || how.level > places_.size() || places_.empty()) return;
    // It had worked since the checkpoint: at most until the next one would have been there. The rest was downtime.
    const double longest = period(how.level == 0 ? 0 : how.level - 1).value_or(longest_interval);
    worked((std::min)({how.away_seconds, longest, longest_interval}));
    if (how.level > 0) places_[how.level - 1].failures.failed();
  }

  /// From the beginning of one copy to that of the next, in seconds: at least what a copy takes, at most an hour;
  /// infinite where the place is left out; nothing before its first copy.
  [[nodiscard]] std::optional<double> period(std::size_t place) const {
    if (place >= places_.size() || places_[place].taken.is_empty()) return std::nullopt;
    std::vector<level_cost> costs;  // of the places that have a copy; the failures of others are those of the next one
    std::size_t at = 0;
    double rate = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      rate += places_[i].failures.rate();
      if (places_[i].taken.is_empty()) continue;
      if (i == place) at = costs.size();
      costs.push_back({places_[i].taken.mean(), std::exchange(rate, 0.0), places_[i].lag.mean()});
    }
    const double best = level_periods(costs)[at];
    const bool is_left_out = cairn::detail::is_infinite(best) && at + 1 < costs.size();
    return is_left_out ? best : (std::min)((std::max)(best, costs[at].lag), longest_interval);
  }

  void remember(policy_memory& memory) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i].failures.remember(memory, name(i, "failures"));
      if (places_[i].taken.is_empty()) continue;
      memory[name(i, "taken")] = places_[i].taken.remember();
      memory[name(i, "lag")] = places_[i].lag.remember();
    }
  }
  void recall(const policy_memory& memory) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i].failures.recall(memory, name(i, "failures"));
      places_[i].taken.recall(memory, name(i, "taken"));
      places_[i].lag.recall(memory, name(i, "lag"));
    }
  }

 private:
  struct learned {
    explicit learned(const mtbf_prior& prior) : failures(prior) {}
    mtbf_estimate failures;
    running_mean taken, lag;
  };

  /// In the notes of a checkpoint, where the place of the saves has the number 0.
  [[nodiscard]] static std::string name(std::size_t place, const char* what) {
    return "level." + std::to_string(place + 1) + "." + what;
  }

  std::vector<learned> places_;
};

}  // namespace cairn::inline v0_1::schedule
