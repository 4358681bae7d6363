// Workers of one age, until one of them fails: a model of failures and a seed -> when.
#pragma once

#include <cstdint>

#include "cairn/schedule/failures.hpp"
#include "cairn/schedule/seeded_numbers.hpp"

namespace cairn::schedule {

/// The time is given in spans, with any number of workers in each: a failure comes once n (H(age) - H(age before)), summed up over them, has
/// passed a number drawn from Exp(1). The k-th `begin` draws the same number whatever was done before. `model` must outlive this.
class workers_at_risk {
 public:
  workers_at_risk(const any_failures& model, seeded_numbers draws) : model_(&model), draws_(draws) { begin(); }

  /// All are replaced by new ones.
  void begin() {
    age_ = 0;
    hazard_ = model_->expected(0);
    left_ = draws_.exponential(drawn_++);
    has_failed_ = false;
  }

  /// Lets `seconds` pass. Gives how many of them did until a failure; all where there is none. After a failure: `begin`.
  /// O(1), once more per failure to find it within the span, by bisection.
  [[nodiscard]] double pass(double seconds, double workers) {
    const double later = model_->expected(age_ + seconds), expected = workers * (later - hazard_);
    if (expected >= left_) return until_failure(seconds, workers);
    if (expected > 0) left_ -= expected;
    age_ += seconds;
    hazard_ = later;
    return seconds;
  }
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

 private:
  [[nodiscard]] double until_failure(double seconds, double workers) {
    has_failed_ = true;
    double low = 0, high = seconds;
    for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2)
      (workers * (model_->expected(age_ + middle) - hazard_) >= left_ ? high : low) = middle;
    return high;
  }

  const any_failures* model_;
  seeded_numbers draws_;
  std::uint64_t drawn_ = 0;
  double age_ = 0, hazard_ = 0;
  double left_ = 0;  // of the failures to be expected until the next one
  bool has_failed_ = false;
};

}  // namespace cairn::schedule
