// Models of failures: how many a worker of some age has had to expect.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
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
namespace detail {

/// A cumulative hazard: no number is none, and what is too large to be a number is the largest one.
[[nodiscard]] inline double hazard(double expected) noexcept {
  return expected > 0 ? std::min(expected, std::numeric_limits<double>::max()) : 0;
}

}  // namespace detail

/// None.
struct never {
  [[nodiscard]] double expected(double /*seconds*/) const noexcept { return 0; }
};

/// At a constant rate, whatever the age. An MTBF that is no positive number: none.
struct exponential {
  std::chrono::duration<double> mtbf;  ///< of one worker

  [[nodiscard]] double expected(double seconds) const noexcept {
    return mtbf.count() > 0 ? detail::hazard(seconds / mtbf.count()) : 0;
  }
};

/// H(t) = (t / scale)^shape. Below 1: what has run for long fails less; above: more. A shape or scale that is no positive number: none.
struct weibull {
  double shape;
  std::chrono::duration<double> scale;

  /// With a mean time between failures of `mtbf`. For a shape below 0.006, of which no such scale can be told, there are none.
  [[nodiscard]] static weibull of_mean(std::chrono::duration<double> mtbf, double shape) {
    return {shape, shape > 0 ? mtbf / std::tgamma(1 + 1 / shape) : mtbf};
  }
  [[nodiscard]] double expected(double seconds) const noexcept {
    return shape > 0 && scale.count() > 0 && seconds > 0 ? detail::hazard(std::pow(seconds / scale.count(), shape)) : 0;
  }
};

/// From recorded times between failures (Nelson's and Aalen's estimate, with straight lines in between). Beyond the longest one, at the
/// mean rate. Times that are no positive numbers are passed over; without any other there are no failures. O(log n).
class trace {
 public:
  explicit trace(std::vector<double> seconds_between) {
    std::erase_if(seconds_between, [](double s) { return !(s > 0 && std::isfinite(s)); });
    std::sort(seconds_between.begin(), seconds_between.end());
    double sum = 0, mean = 0;
    for (std::size_t i = 0; i < seconds_between.size(); ++i) {
      mean += seconds_between[i] / static_cast<double>(seconds_between.size());
      sum += 1 / static_cast<double>(seconds_between.size() - i);
      if (known_.back().age == seconds_between[i]) known_.pop_back();
      known_.push_back({seconds_between[i], sum});
    }
    if (mean > 0) rate_ = detail::hazard(1 / mean);
  }

  [[nodiscard]] double expected(double seconds) const noexcept {
    if (!(seconds > 0)) return 0;
    const auto after = std::upper_bound(known_.begin(), known_.end(), seconds,
                                        [](double age, const point& known) { return age < known.age; });
    const auto& from = *(after - 1);
    if (after == known_.end()) return detail::hazard(from.expected + rate_ * (seconds - from.age));
    const double part = (seconds - from.age) / (after->age - from.age);
    return from.expected + part * (after->expected - from.expected);
  }

 private:
  struct point {
    double age, expected;
  };

  std::vector<point> known_{{0, 0}};  // rising
  double rate_ = 0;                   // beyond the last one
};

}  // namespace failures

}  // namespace cairn
