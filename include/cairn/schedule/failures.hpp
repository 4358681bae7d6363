// Models of failures: how many a worker of some age has had to expect.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace cairn {

/// When workers fail. `expected(age)` is the cumulative hazard H of one worker: the failures to be expected within `age` seconds after
/// it was started, 0 at 0, never falling, finite. It survives that long with probability exp(-H), and n workers with exp(-n H).
template <class Model>
concept failure_model = std::copy_constructible<Model> && requires(const Model& self, double seconds) {
  { self.expected(seconds) } -> std::convertible_to<double>;
};

/// Any model of failures, chosen at run time.
class any_failures {
 public:
  template <class Model>
  requires(!std::same_as<std::remove_cvref_t<Model>, any_failures> && failure_model<std::remove_cvref_t<Model>>)
  any_failures(Model&& model)  // NOLINT: a model is meant to become one by itself
      : expected_([self = std::forward<Model>(model)](double seconds) { return double(self.expected(seconds)); }) {}

  [[nodiscard]] double expected(double seconds) const { return expected_(seconds); }

 private:
  std::function<double(double)> expected_;
};

namespace failures {

/// None.
struct never {
  [[nodiscard]] double expected(double /*seconds*/) const noexcept { return 0; }
};

/// At a constant rate, whatever the age. An MTBF that is no positive number: none.
struct exponential {
  std::chrono::duration<double> mtbf;  ///< of one worker

  [[nodiscard]] double expected(double seconds) const noexcept {
    return mtbf.count() > 0 ? std::max(seconds, 0.0) / mtbf.count() : 0;
  }
};

/// H(t) = (t / scale)^shape. Below 1: what has run for long fails less; above: more. A shape or scale that is no positive number: none.
struct weibull {
  double shape;
  std::chrono::duration<double> scale;

  /// With a mean time between failures of `mtbf`.
  [[nodiscard]] static weibull of_mean(std::chrono::duration<double> mtbf, double shape) {
    return {shape, mtbf / std::tgamma(1 + 1 / shape)};
  }
  [[nodiscard]] double expected(double seconds) const noexcept {
    return shape > 0 && scale.count() > 0 && seconds > 0 ? std::pow(seconds / scale.count(), shape) : 0;
  }
};

/// From recorded times between failures (Nelson's and Aalen's estimate, with straight lines in between). Beyond the longest one, at the
/// mean rate. Times that are no positive numbers are passed over; without any other there are no failures. O(log n).
class trace {
 public:
  explicit trace(std::vector<double> seconds_between) : ages_(std::move(seconds_between)) {
    std::erase_if(ages_, [](double s) { return !(s > 0 && std::isfinite(s)); });
    std::sort(ages_.begin(), ages_.end());
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < ages_.size(); ++i) {
      total += ages_[i];
      expected_.push_back(sum += 1 / static_cast<double>(ages_.size() - i));
    }
    if (total > 0) rate_ = static_cast<double>(ages_.size()) / total;
  }

  [[nodiscard]] double expected(double seconds) const noexcept {
    if (ages_.empty() || !(seconds > 0)) return 0;
    const auto after = static_cast<std::size_t>(std::upper_bound(ages_.begin(), ages_.end(), seconds) - ages_.begin());
    if (after == ages_.size()) return expected_.back() + (seconds - ages_.back()) * rate_;
    const double from = after == 0 ? 0 : ages_[after - 1], low = after == 0 ? 0 : expected_[after - 1];
    return low + (expected_[after] - low) * (seconds - from) / (ages_[after] - from);
  }

 private:
  std::vector<double> ages_;      // rising
  std::vector<double> expected_;  // up to the age of the same index
  double rate_ = 0;
};

}  // namespace failures

}  // namespace cairn
