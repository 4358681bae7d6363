// SPDX-License-Identifier: MIT
// Reduces the losses of a run, step by step, to at most 64 buckets of mean step, mean loss and noise.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"

namespace cairn::inline v0_1::schedule {

/// Neighbouring steps.
struct loss_bucket {
  double count = 0;     ///< losses in it, >= 1
  double last = 0;      ///< its highest step
  double step_sum = 0;  ///< of all of them
  double loss_sum = 0;  ///< of all of them, spikes clipped
  /// Of half the squared differences between each loss and the one before: noise without the trend.
  double scatter_sum = 0;

  [[nodiscard]] double step() const noexcept { return step_sum / count; }
  [[nodiscard]] double loss() const noexcept { return loss_sum / count; }

  /// Adds the losses of the next bucket.
  void add(const loss_bucket& next) noexcept {
    count += next.count;
    last = next.last;
    step_sum += next.step_sum;
    loss_sum += next.loss_sum;
    scatter_sum += next.scatter_sum;
  }
};

/// A decimated record of a loss. The steps of a bucket span at most a share of the way from the first step to its end,
/// so the fast beginning stays fine. When the buckets run out this share grows by a quarter. O(1) memory; amortised
/// O(1) per loss. Ignored are losses and steps that are not finite or beyond 1e100 in size, and negative steps. An
/// upward spike counts as at most `spike` mean deviations above the newest losses, unless several follow one another. A
/// step below the newest one means that the run went back: what came after it is forgotten, with the rest of its
/// bucket. A repeated step is one more loss of that step.
class loss_window {
 public:
  static constexpr std::size_t capacity = 64;

  void observe(const double& step, const double& seen) noexcept {
    if (!cairn::detail::is_finite(step) || step < 0 || step > largest) return;
    if (!cairn::detail::is_finite(seen) || std::abs(seen) > largest) {
      ++passed_over_;
      return;
    }
    double loss = seen;
    passed_over_ = 0;
    if (size_ > 0 && step < buckets_[size_ - 1].last) take_back(step);
    const double before = previous_;
    previous_ = loss = without_spike(loss);
    const double scatter = size_ == 0 ? 0 : (loss - before) * (loss - before) / 2;
    if (size_ == 0) first_ = step;
    const loss_bucket next{1, step, step, loss, scatter};
    if (size_ > 0 && step - begin_of(size_ - 1) <= share_ * (step - first_)) return buckets_[size_ - 1].add(next);
    while (size_ == capacity) coarsen();
    buckets_[size_++] = next;
  }

  [[nodiscard]] std::span<const loss_bucket> buckets() const noexcept { return std::span(buckets_).first(size_); }
  [[nodiscard]] double first_step() const noexcept { return first_; }
  /// The newest step; 0 when there was none.
  [[nodiscard]] double last_step() const noexcept { return size_ == 0 ? 0 : buckets_[size_ - 1].last; }
  /// The mean of the newest losses, about 16 of them.
  [[nodiscard]] double level() const noexcept { return level_; }
  /// Their mean distance from it.
  [[nodiscard]] double spread() const noexcept { return spread_; }
  /// The number of newest losses in a row that were ignored.
  [[nodiscard]] double passed_over() const noexcept { return passed_over_; }

  void remember(policy_memory& memory) const;
  /// Whether `memory` has a valid window: not a wrong number of values, values that are not finite, or falling steps.
  bool recall(const policy_memory& memory);

 private:
  static constexpr double largest = 1e100;
  static constexpr double recent = 16;   // losses in `level_`
  static constexpr double least = 4;     // losses before a spike can be recognised
  static constexpr double spike = 5;     // mean deviations: four standard deviations of normal noise
  static constexpr double in_a_row = 8;  // more spikes than this one after another are a new level
  static constexpr double coarser = 1.25;
  static constexpr std::size_t scalar_count = 8, per_bucket = 5;

  [[nodiscard]] double begin_of(std::size_t i) const noexcept { return i == 0 ? first_ : buckets_[i - 1].last; }

  double without_spike(double loss) noexcept {
    if (seen_ >= least && loss - level_ > spike * spread_) {
      if (++spikes_ <= in_a_row)
        loss = level_ + spike * spread_;
      else
        level_ = loss;
    } else {
      spikes_ = 0;
    }
    if (seen_ < recent) seen_ += 1;
    const double off = seen_ == 1 ? 0 : loss - level_;
    const double weight = seen_ < recent ? 1 / seen_ : 1 / recent;
    level_ = seen_ == 1 ? loss : level_ + off * weight;
    spread_ += (std::abs(off) - spread_) * weight;
    return loss;
  }

  void take_back(double step) noexcept {
    while (size_ > 0 && buckets_[size_ - 1].last > step) --size_;
    seen_ = spread_ = spikes_ = 0;
    if (size_ == 0) share_ = finest;
    previous_ = size_ == 0 ? 0 : buckets_[size_ - 1].loss();
  }

  /// Merges neighbours where the wider share allows it.
  void coarsen() noexcept {
    share_ *= coarser;
    std::size_t kept = 1;
    for (std::size_t i = 1; i < size_; ++i) {
      const loss_bucket next = buckets_[i];
      if (next.last - begin_of(kept - 1) > share_ * (next.last - first_))
        buckets_[kept++] = next;
      else
        buckets_[kept - 1].add(next);
    }
    size_ = kept;
  }

  [[nodiscard]] std::array<double, scalar_count> scalars() const noexcept {
    return {first_, share_, level_, spread_, seen_, spikes_, passed_over_, previous_};
  }

  static constexpr double finest = 1.0 / 32;

  std::array<loss_bucket, capacity> buckets_{};
  std::size_t size_ = 0;
  double first_ = 0;
  double share_ = finest;
  double level_ = 0, spread_ = 0;
  double seen_ = 0;    // losses in `level_`, up to `recent`
  double spikes_ = 0;  // clipped one after another
  double passed_over_ = 0;
  double previous_ = 0;
};

inline void loss_window::remember(policy_memory& memory) const {
  const auto ours = scalars();
  std::vector<double> values(ours.begin(), ours.end());
  values.reserve(scalar_count + per_bucket * size_);
  for (const auto& b : buckets()) values.insert(values.end(), {b.count, b.last, b.step_sum, b.loss_sum, b.scatter_sum});
  memory["losses"] = std::move(values);
}

inline bool loss_window::recall(const policy_memory& memory) {
  const auto kept = memory.find("losses");
  if (kept == memory.end()) return false;
  const auto& values = kept->second;
  if (values.size() < scalar_count || (values.size() - scalar_count) % per_bucket != 0) return false;
  if (values.size() > scalar_count + per_bucket * capacity) return false;
  if (!std::ranges::all_of(values, [](const double& v) { return cairn::detail::is_finite(v); })) return false;

  loss_window read;
  read.first_ = values[0];
  read.share_ = values[1];
  read.level_ = values[2];
  read.spread_ = values[3];
  read.seen_ = values[4];
  read.spikes_ = values[5];
  read.passed_over_ = values[6];
  read.previous_ = values[7];
  if (!(read.first_ >= 0 && read.share_ >= finest && read.spread_ >= 0 && read.seen_ >= 0)) return false;
  for (std::size_t at = scalar_count; at < values.size(); at += per_bucket) {
    const loss_bucket next{values[at], values[at + 1], values[at + 2], values[at + 3], values[at + 4]};
    if (!(next.count >= 1 && next.last >= read.begin_of(read.size_) && next.scatter_sum >= 0)) return false;
    read.buckets_[read.size_++] = next;
  }
  *this = read;
  return true;
}

}  // namespace cairn::inline v0_1::schedule
