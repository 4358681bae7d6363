// SPDX-License-Identifier: MIT
// LeNet-5: the network of examples/lenet.
#pragma once

#include "lenet/network.hpp"
#include "models/data.hpp"
#include "models/layers.hpp"

namespace bench::models {

using lenet_5 = lenet::network;

[[nodiscard]] inline score evaluate(const lenet_5& model, const lenet::batch& seen) {
  return score_of(cross_entropy(lenet::forward(model, seen.images).scores, seen.labels), seen);
}

inline double differentiate(const lenet_5& model, const lenet::batch& seen, lenet_5& gradient) {
  return lenet::backward(model, seen, gradient).loss;
}

}  // namespace bench::models
