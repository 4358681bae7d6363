// What a policy has seen of a run's costs: how long iterations and saves take.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"

namespace cairn::schedule {

/// The mean of a quantity that may drift, in O(1). The newest values have most weight, and a value counts for at most `clip` times the
/// mean before it. The first value, which often includes one-time work, is dropped where the second is less than a quarter of it.
/// Negative values and values that are not finite are ignored.
///
/// Clipping makes the mean robust and biased: where 10 % of the values are 10 and the others 0.1, the mean is 1.09 and this one 0.15.
class running_mean {
 public:
  explicit running_mean(double clip = 4) noexcept : clip_(clip) {}

  void add(double value) noexcept {
    if (!(value >= 0) || !std::isfinite(value)) return;
    count_ += 1;
    if (count_ == 2 && value < mean_ / 4) count_ = 1;
    if (count_ > 1 && mean_ > 0) value = std::min(value, clip_ * mean_);
    mean_ += (value - mean_) * (count_ < 1 / newest_share ? 1 / count_ : newest_share);
  }
  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  [[nodiscard]] double count() const noexcept { return count_; }
  /// 0 when there is none yet.
  [[nodiscard]] double mean() const noexcept { return mean_; }

  [[nodiscard]] std::vector<double> remember() const { return {count_, mean_}; }
  void recall(const policy_memory& memory, const std::string& name) {
    const auto kept = memory.find(name);
    if (kept == memory.end() || kept->second.size() != 2) return;
    const double count = kept->second[0], mean = kept->second[1];
    if (count > 0 && mean >= 0 && std::isfinite(count) && std::isfinite(mean)) count_ = count, mean_ = mean;
  }

 private:
  static constexpr double newest_share = 1.0 / 16;

  double clip_;
  double count_ = 0;
  double mean_ = 0;
};

/// Iteration times, and what saves take from them. An iteration is beside a save when one was on its way at its beginning or end.
class iteration_times {
 public:
  /// To be called once per step. O(1).
  void observe(const moment& now) noexcept {
    const bool is_beside = now.is_saving || was_saving_ || now.saved_step != saved_step_;
    was_saving_ = now.is_saving;
    saved_step_ = now.saved_step;
    if (!(now.iteration_seconds > 0) || !std::isfinite(now.iteration_seconds)) return;
    (is_beside ? beside_ : alone_).add(now.iteration_seconds);
    if (!is_beside || alone_.is_empty()) return;
    newest_taken_ = std::min(newest_taken_ + std::min(now.iteration_seconds, 4 * alone_.mean()) - alone_.mean(), most);
  }
  /// A save has taken so many seconds behind the training; to be called when it is published.
  void saved(double background_seconds) noexcept {
    if (!(background_seconds > 0) || !std::isfinite(background_seconds)) return;
    taken_ = taken_ * kept_share + std::exchange(newest_taken_, 0);
    background_ = background_ * kept_share + std::min(background_seconds, most);
  }

  /// Of an iteration with no save beside it, in seconds; 0 when there was no iteration yet.
  [[nodiscard]] double seconds() const noexcept { return alone_.is_empty() ? beside_.mean() : alone_.mean(); }

  /// What a second of saving behind the training takes from it, in seconds, 0 to 1: by how much iterations beside saves are longer than
  /// others, over the newest saves.
  [[nodiscard]] double slowdown() const noexcept {
    return background_ > 0 ? std::clamp(taken_ / background_, 0.0, 1.0) : 0;
  }

  void remember(policy_memory& memory) const {
    memory["iterations"] = alone_.remember();
    memory["iterations_beside_saves"] = beside_.remember();
    memory["slowdown"] = {taken_, background_};
  }
  void recall(const policy_memory& memory) {
    alone_.recall(memory, "iterations");
    beside_.recall(memory, "iterations_beside_saves");
    const auto kept = memory.find("slowdown");
    if (kept == memory.end() || kept->second.size() != 2) return;
    const double taken = kept->second[0], background = kept->second[1];
    if (std::isfinite(taken) && std::isfinite(background) && background >= 0) taken_ = taken, background_ = background;
  }

 private:
  static constexpr double kept_share = 31.0 / 32;  // of what was seen at the saves before
  static constexpr double most = 1e15;             // seconds: sums stay finite

  running_mean alone_, beside_;
  double newest_taken_ = 0;            // seconds, since the newest save was published
  double taken_ = 0, background_ = 0;  // seconds, those of the newest saves most
  bool was_saving_ = false;
  std::uint64_t saved_step_ = 0;
};

/// Seconds that saves of one kind take.
struct mean_cost {
  double stall = 0;
  double background = 0;
  double encode = 0;
  double write = 0;
  double bytes = 0;
  double state_bytes = 0;
};

/// Means of what saves have cost, kind by kind.
class observed_costs {
 public:
  void observe(const save_cost& cost) {
    auto& of_kind = kinds_[static_cast<std::size_t>(cost.kind)];
    const std::array<double, quantities> values{cost.stall_seconds, cost.background_seconds, cost.encode_seconds,
                                                cost.write_seconds, double(cost.bytes),      double(cost.state_bytes)};
    for (std::size_t i = 0; i < quantities; ++i) of_kind[i].add(values[i]);
  }

  /// Nothing when there was none of this kind.
  [[nodiscard]] std::optional<mean_cost> of(save_kind kind) const {
    const auto& q = kinds_[static_cast<std::size_t>(kind)];
    if (q[0].is_empty()) return std::nullopt;
    return mean_cost{q[0].mean(), q[1].mean(), q[2].mean(), q[3].mean(), q[4].mean(), q[5].mean()};
  }
  /// Over all kinds, by how many there were of each.
  [[nodiscard]] std::optional<mean_cost> mean() const;
  [[nodiscard]] double count(save_kind kind) const { return kinds_[static_cast<std::size_t>(kind)][0].count(); }

  void remember(policy_memory& memory) const;
  void recall(const policy_memory& memory);

 private:
  static constexpr std::size_t quantities = 6;
  static constexpr std::array<const char*, quantities> names{"stall", "background", "encode",
                                                             "write", "bytes",      "state_bytes"};
  static constexpr std::array<const char*, 3> kind_names{"raw", "whole", "delta"};

  std::array<std::array<running_mean, quantities>, 3> kinds_;
};

/// A budget for what saves take from the training. Costs are averaged without clipping, kind by kind: only then do intervals of at least
/// mean / share keep the sum of all costs within the budget. One save counts for at most what the budget allows in `longest_interval`,
/// since a save is made after that time in any case.
class save_budget {
 public:
  /// Percent of the training time. Infinite: no limit; not positive: 0.
  explicit save_budget(double percent) noexcept : share_(percent > 0 ? percent / 100 : 0) {}

  void saved(save_kind kind, double seconds) noexcept {
    if (share_ > 0 && std::isfinite(seconds)) seconds = std::min(seconds, share_ * longest_interval);
    means_[static_cast<std::size_t>(kind)].add(seconds);
  }
  /// Seconds per save of this kind; nothing when there was none.
  [[nodiscard]] std::optional<double> mean(save_kind kind) const noexcept {
    const auto& all = means_[static_cast<std::size_t>(kind)];
    return all.is_empty() ? std::nullopt : std::optional(all.mean());
  }
  /// Over all kinds.
  [[nodiscard]] std::optional<double> mean() const noexcept {
    double sum = 0, count = 0;
    for (const auto& all : means_) sum += all.count() * all.mean(), count += all.count();
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }
  /// The shortest interval between saves that take `seconds` each.
  [[nodiscard]] double interval(double seconds) const noexcept {
    if (std::isinf(share_)) return 0;
    return share_ > 0 ? seconds / share_ : std::numeric_limits<double>::infinity();
  }

  void remember(policy_memory& memory) const {
    for (std::size_t i = 0; i < means_.size(); ++i)
      if (!means_[i].is_empty()) memory[names[i]] = means_[i].remember();
  }
  void recall(const policy_memory& memory) {
    for (std::size_t i = 0; i < means_.size(); ++i) means_[i].recall(memory, names[i]);
  }

 private:
  static constexpr double unclipped = std::numeric_limits<double>::infinity();
  static constexpr std::array<const char*, 3> names{"raw.taken", "whole.taken", "delta.taken"};

  double share_;
  std::array<running_mean, 3> means_{running_mean(unclipped), running_mean(unclipped), running_mean(unclipped)};
};

inline std::optional<mean_cost> observed_costs::mean() const {
  std::array<double, quantities> sums{};
  double all = 0;
  for (const auto& of_kind : kinds_) {
    all += of_kind[0].count();
    for (std::size_t i = 0; i < quantities; ++i) sums[i] += of_kind[0].count() * of_kind[i].mean();
  }
  if (all == 0) return std::nullopt;
  return mean_cost{sums[0] / all, sums[1] / all, sums[2] / all, sums[3] / all, sums[4] / all, sums[5] / all};
}

inline void observed_costs::remember(policy_memory& memory) const {
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    for (std::size_t i = 0; i < quantities && !kinds_[k][0].is_empty(); ++i)
      memory[std::string(kind_names[k]) + '.' + names[i]] = kinds_[k][i].remember();
}

inline void observed_costs::recall(const policy_memory& memory) {
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    for (std::size_t i = 0; i < quantities; ++i)
      kinds_[k][i].recall(memory, std::string(kind_names[k]) + '.' + names[i]);
}

}  // namespace cairn::schedule
