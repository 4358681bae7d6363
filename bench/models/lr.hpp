// SPDX-License-Identifier: MIT
// Multinomial logistic regression on images of 28 x 28 pixels.
#pragma once

#include <random>

#include "models/data.hpp"
#include "models/layers.hpp"

namespace bench::models {

struct lr {
  dense layer;
};

[[nodiscard]] inline lr make_lr() { return {{matrix::Zero(784, 10), vector::Zero(10)}}; }

[[nodiscard]] inline score evaluate(const lr& model, const lenet::batch& seen) {
  return score_of(cross_entropy(forward(model.layer, seen.images), seen.labels), seen);
}

/// Fills `gradient` with that of the mean loss, which it returns.
inline double differentiate(const lr& model, const lenet::batch& seen, lr& gradient) {
  const auto result = cross_entropy(forward(model.layer, seen.images), seen.labels);
  gradient.layer.weight.noalias() = seen.images.transpose() * result.delta;
  gradient.layer.bias = result.delta.colwise().sum().transpose();
  return result.loss;
}

}  // namespace bench::models
