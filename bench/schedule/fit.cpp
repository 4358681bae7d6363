// SPDX-License-Identifier: MIT
#include "schedule/fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>

#include "cairn/schedule/fits/estimators.hpp"

namespace bench {
namespace {

using cairn::loss_curve;
using family = loss_curve::family;
using clock = std::chrono::steady_clock;

/// Curves over n steps. Rates are per run, so that all of them show the same part of the fall however long they are;
/// power laws have none.
std::vector<loss_curve> published(double n) {
  const double ten_classes = std::log(10.0), thousand_classes = std::log(1000.0);
  return {
      {family::exponential, {-1 / n, std::log(ten_classes)}},  // COCI
      {family::exponential, {-2 / n, std::log(ten_classes)}},
      {family::exponential, {-4 / n, std::log(thousand_classes)}},
      {family::exponential_floor, {2.2, 3 / n, 0.1}},  // SLAQ, geometric
      {family::exponential_floor, {2, 6 / n, 0.3}},
      {family::exponential_floor, {5, 10 / n, 1.9}},
      {family::inverse_linear, {5 / n, 1 / ten_classes, 0.05}},  // Optimus
      {family::inverse_linear, {20 / n, 1 / ten_classes, 0.1}},
      {family::inverse_linear, {60 / n, 0.2, 1}},
      {family::inverse_quadratic, {20 / n / n, 5 / n, 0.5, 0.1}},  // SLAQ
      {family::inverse_quadratic, {50 / n / n, 1 / n, 1 / ten_classes, 0.2}},
      {family::inverse_quadratic, {5 / n / n, 20 / n, 0.2, 0.5}},
      {family::power_law, {ten_classes, 0.5, 0}},
      {family::power_law, {2, 0.7, 0.2}},
      {family::power_law, {thousand_classes, 0.1, 0}},
      {family::power_law, {9, 0.3, 1.7}},
  };
}

/// A policy asks for the curve at every step; how often changes nothing in the last one but its start.
constexpr int asked_every = 16;

double error_of(const std::optional<loss_curve>& fitted, const loss_curve& truth, int steps) {
  if (!fitted) return std::numeric_limits<double>::infinity();
  return 100 * std::abs(fitted->at(2.0 * steps) / truth.at(2.0 * steps) - 1);
}

/// The value in the middle, the larger one of two: where they are infinite too, a median that is one of the values.
double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Errors of one estimator, curve by curve.
class errors {
 public:
  void next_curve() { curves_.emplace_back(); }
  void add(double error) { curves_.back().push_back(error); }
  void add(const errors& others) { curves_.insert(curves_.end(), others.curves_.begin(), others.curves_.end()); }

  [[nodiscard]] prediction_error summary() const {
    prediction_error all;
    std::vector<double> together;
    for (const auto& of_curve : curves_) {
      all.worst_curve = std::max(all.worst_curve, upper_median(of_curve));
      together.insert(together.end(), of_curve.begin(), of_curve.end());
    }
    for (const double error : together) {
      if (std::isfinite(error))
        all.worst = std::max(all.worst, error);
      else
        all.without += 100.0 / static_cast<double>(together.size());
    }
    all.median = upper_median(std::move(together));
    return all;
  }

 private:
  std::vector<std::vector<double>> curves_;
};

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

void measure_speed(fit_errors& into, double noise) {
  constexpr int steps = 10000;
  const loss_curve curve{family::exponential_floor, {2.2, 3.0 / steps, 0.1}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> losses(steps);
  for (int step = 0; step < steps; ++step)
    losses[static_cast<std::size_t>(step)] = curve.at(step) * (1 + noise * normal(random));

  double observing = std::numeric_limits<double>::infinity(), refitting = observing;
  for (int repetition = 0; repetition < 5; ++repetition) {
    cairn::estimators::best_of seen, asked;
    auto begin = clock::now();
    for (int step = 0; step < steps; ++step) seen.observe(step, losses[static_cast<std::size_t>(step)]);
    observing = std::min(observing, seconds_since(begin));

    int refits = 0;
    double spent = 0;
    for (int step = 0; step < steps; ++step) {
      asked.observe(step, losses[static_cast<std::size_t>(step)]);
      if (!asked.is_due()) continue;
      begin = clock::now();
      static_cast<void>(asked.curve());
      spent += seconds_since(begin);
      ++refits;
    }
    refitting = std::min(refitting, spent / refits);
  }
  into.observe_ns = 1e9 * observing / steps;
  into.refit_us = 1e6 * refitting;
}

}  // namespace

fit_errors measure_fit(int seeds, double noise) {
  fit_errors result;
  errors all_own, all_best;
  errors own, best;
  const auto finish_family = [&](family shape) {
    result.families.push_back({std::string(name(shape)), own.summary(), best.summary()});
    all_own.add(own);
    all_best.add(best);
    own = best = {};
  };

  constexpr int lengths[] = {500, 1000, 3000, 10000};
  const std::size_t curves = published(1).size();
  for (std::size_t i = 0; i < curves; ++i) {
    for (const int steps : lengths) {
      const loss_curve truth = published(steps)[i];
      own.next_curve();
      best.next_curve();
      for (int seed = 1; seed <= seeds; ++seed) {
        cairn::estimators::fitted_curves matching{truth.shape};
        cairn::estimators::best_of any;
        std::mt19937_64 random(static_cast<std::uint64_t>(seed));
        std::normal_distribution<double> normal;
        for (int step = 0; step < steps; ++step) {
          const double loss = truth.at(step) * (1 + noise * normal(random));
          matching.observe(step, loss);
          any.observe(step, loss);
          if (step % asked_every != 0) continue;
          static_cast<void>(matching.curve());
          static_cast<void>(any.curve());
        }
        own.add(error_of(matching.curve(), truth, steps));
        best.add(error_of(any.curve(), truth, steps));
        ++result.runs;
      }
    }
    const family shape = published(1)[i].shape;
    if (i + 1 == curves || published(1)[i + 1].shape != shape) finish_family(shape);
  }
  result.own = all_own.summary();
  result.best = all_best.summary();
  measure_speed(result, noise);
  return result;
}

}  // namespace bench
