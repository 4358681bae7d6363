// SPDX-License-Identifier: MIT
// How well the estimators predict losses: published curves with noise, half of each seen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// |predicted - true| / true after twice the observed steps, in percent, of runs in which there was a prediction.
struct prediction_error {
  double median = 0;       ///< over all runs; infinite where most have none
  double worst_curve = 0;  ///< the largest median of a curve and a number of steps, over the seeds
  double worst = 0;        ///< the largest of all
  double without = 0;      ///< the share of runs without a prediction, percent
};

struct family_errors {
  std::string family;
  prediction_error own;   ///< by the estimator of that family
  prediction_error best;  ///< by best_of
};

struct fit_errors {
  prediction_error own;
  prediction_error best;  ///< its median is `fit.error`
  std::vector<family_errors> families;
  double observe_ns = 0;  ///< of a loss, best_of
  double refit_us = 0;    ///< of best_of, mean over a job of 10,000 steps
  std::size_t runs = 0;
};

/// Each curve over 500, 1000, 3000 and 10,000 steps, with independent normal noise of `noise` of the loss, with seeds 1
/// to `seeds`. The curves fall as the papers' do: from ln 10 (ten classes), ln 1000 (ImageNet) or about 10 (a language
/// model) to a floor or to none, to between a half and a hundredth of it over the steps. About 0.5 s per seed.
[[nodiscard]] fit_errors measure_fit(int seeds, double noise = 0.1);

}  // namespace bench
