// SPDX-License-Identifier: MIT
// Models of failures of workers, and of early stops of jobs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <utility>

#include "cairn/core/float_bits.hpp"

namespace bench::schedule {

/// When workers fail. `expected(age)` is the cumulative hazard H of one worker: the expected failures within `age`
/// seconds after its start. H(0) = 0; H never falls and is finite. A worker survives that long with probability
/// exp(-H), n workers with exp(-n H).
template <class Model>
concept failure_model = std::copy_constructible<Model> && requires(const Model& self, double seconds) {
  { self.expected(seconds) } -> std::convertible_to<double>;
};

/// Any model of failures, chosen at run time.
class any_failures {
 public:
  template <class Model>
  requires(!std::same_as<std::remove_cvref_t<Model>, any_failures> && failure_model<std::remove_cvref_t<Model>>)
  any_failures(Model&& model)  // NOLINT: any model converts
      : expected_([self = std::forward<Model>(model)](double seconds) { return double(self.expected(seconds)); }) {}

  [[nodiscard]] double expected(double seconds) const { return expected_(seconds); }

 private:
  std::function<double(double)> expected_;
};

namespace failures {
namespace detail {

/// A valid cumulative hazard: NaN and negative values become 0, infinity the largest number.
[[nodiscard]] inline double hazard(double expected) noexcept {
  return expected > 0 ? std::min(expected, std::numeric_limits<double>::max()) : 0;
}

}  // namespace detail

/// None.
struct never {
  [[nodiscard]] double expected(double /*seconds*/) const noexcept { return 0; }
};

/// At a constant rate, whatever the age. An MTBF that is not positive: no failures.
struct exponential {
  std::chrono::duration<double> mtbf;  ///< of one worker

  [[nodiscard]] double expected(double seconds) const noexcept {
    return mtbf.count() > 0 ? detail::hazard(seconds / mtbf.count()) : 0;
  }
};

/// H(t) = (t / scale)^shape. A shape below 1: old workers fail less; above 1: more. A shape or scale that is not
/// positive: no failures.
struct weibull {
  double shape;                         ///< below 1: old workers fail less
  std::chrono::duration<double> scale;  ///< seconds

  /// With a mean time between failures of `mtbf`. For a shape below 0.006 the scale is not representable, and there are
  /// no failures.
  [[nodiscard]] static weibull of_mean(std::chrono::duration<double> mtbf, double shape) {
    return {shape, shape > 0 ? mtbf / std::tgamma(1 + 1 / shape) : mtbf};
  }
  [[nodiscard]] double expected(double seconds) const noexcept {
    return shape > 0 && scale.count() > 0 && seconds > 0 ? detail::hazard(std::pow(seconds / scale.count(), shape)) : 0;
  }
};

}  // namespace failures

/// `alive(part)` is the probability that the job reaches this part of its length, 0 to 1. It is 1 at 0 and never rises.
/// The probability at 1 is that of running to the end.
template <class Model>
concept early_stop_model = std::copy_constructible<Model> && requires(const Model& self, double part) {
  { self.alive(part) } -> std::convertible_to<double>;
};

/// Any model of early stops, chosen at run time.
class any_early_stop {
 public:
  template <class Model>
  requires(!std::same_as<std::remove_cvref_t<Model>, any_early_stop> && early_stop_model<std::remove_cvref_t<Model>>)
  any_early_stop(Model&& model)  // NOLINT: any model converts
      : alive_([self = std::forward<Model>(model)](double part) { return double(self.alive(part)); }) {}

  [[nodiscard]] double alive(double part) const { return alive_(part); }

 private:
  std::function<double(double)> alive_;
};

namespace early_stops {

/// Every job runs to its end.
struct none {
  [[nodiscard]] double alive(double /*part*/) const noexcept { return 1; }
};

/// With `probability` (0 to 1; NaN: 0) the job is stopped, uniformly between two parts of its length; at `from` where
/// `to` is not larger. Where a part is NaN, never.
struct uniform {
  double from = 0.4;       ///< part of the job's length, 0 to 1
  double to = 0.6;         ///< part of the job's length, 0 to 1
  double probability = 1;  ///< that the job is stopped, 0 to 1

  [[nodiscard]] double alive(double part) const noexcept {
    const double first = std::max(from, 0.0);
    if (!(std::min(part, 1.0) > from && part > 0) || !(probability > 0) || cairn::detail::is_nan(to)) return 1;
    const double passed = to > first ? std::min((std::min(part, 1.0) - first) / (to - first), 1.0) : 1;
    return 1 - std::min(probability, 1.0) * passed;
  }
};

}  // namespace early_stops
}  // namespace bench::schedule
