// SPDX-License-Identifier: MIT
// Running means of quantities that change slowly, and a budget for what saves take from the training.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"

namespace cairn::inline v0_1::schedule {

/// The mean of a quantity that may change slowly, in O(1). The newest values have most weight, and a value counts for
/// at most `clip` times the mean before it. The first value, which often includes one-time work, is dropped where the
/// second is less than a quarter of it. Negative values and values that are not finite are ignored.
///
/// Clipping makes the mean robust and biased: if 10 % of values are 10 and the others 0.1, the mean is 1.09, this 0.15.
class running_mean {
 public:
  explicit running_mean(double clip = 4) noexcept : clip_(clip) {}

  void add(double value) noexcept {
    if (!(value >= 0) || !cairn::detail::is_finite(value)) return;
    count_ += 1;
    if (count_ == 2 && value < mean_ / 4) count_ = 1;
    if (count_ > 1 && mean_ > 0) value = (std::min)(value, clip_ * mean_);
    mean_ += (value - mean_) * (count_ < 1 / newest_share ? 1 / count_ : newest_share);
  }
  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  [[nodiscard]] double count() const noexcept { return count_; }
  /// 0 when there is none yet.
  [[nodiscard]] double mean() const noexcept { return mean_; }

  [[nodiscard]] std::vector<double> remember() const { return {count_, mean_}; }
  void recall(const policy_memory& memory, const std::string& name) {
    const auto kept = cairn::detail::recalled(memory, name, 2);
    if (!kept.empty() && kept[0] > 0 && kept[1] >= 0) count_ = kept[0], mean_ = kept[1];
  }

 private:
  static constexpr double newest_share = 1.0 / 16;

  double clip_;
  double count_ = 0;
  double mean_ = 0;
};

/// A budget for what saves take from the training. Costs are averaged without clipping, kind by kind: only then do
/// intervals of at least mean / share keep the sum of all costs within the budget. One save counts for at most what the
/// budget allows in the longest interval, since a save is made after that time in any case.
class save_budget {
 public:
  /// Percent of the training time. Infinite: no limit; not positive: 0. `longest`: the longest interval, in seconds.
  explicit save_budget(double percent, double longest = longest_interval) noexcept
      : share_(percent > 0 ? percent / 100 : 0), longest_(longest) {}

  void saved(save_kind kind, double seconds) noexcept {
    if (share_ > 0 && cairn::detail::is_finite(seconds)) seconds = (std::min)(seconds, share_ * longest_);
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
    if (cairn::detail::is_infinite(share_)) return 0;
    return share_ > 0 ? seconds / share_ : cairn::detail::infinite();
  }

  void remember(policy_memory& memory) const {
    for (std::size_t i = 0; i < means_.size(); ++i)
      if (!means_[i].is_empty()) memory[names[i]] = means_[i].remember();
  }
  void recall(const policy_memory& memory) {
    for (std::size_t i = 0; i < means_.size(); ++i) means_[i].recall(memory, names[i]);
  }

 private:
  static constexpr double unclipped = 1e100;
  static constexpr std::array<const char*, 3> names{"raw.taken", "whole.taken", "delta.taken"};

  double share_, longest_;
  std::array<running_mean, 3> means_{running_mean(unclipped), running_mean(unclipped), running_mean(unclipped)};
};

}  // namespace cairn::inline v0_1::schedule
