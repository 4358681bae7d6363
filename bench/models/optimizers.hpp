// SPDX-License-Identifier: MIT
// SGD, SGD with momentum, and Adam. The state of an optimizer has arrays like those of the model.
#pragma once

#include <cmath>
#include <cstdint>

#include "models/parameters.hpp"

namespace bench::models {

struct sgd {
  float rate;

  template <class Model>
  struct state {};

  template <class Model>
  [[nodiscard]] state<Model> start(const Model& /*model*/) const {
    return {};
  }

  template <class Model>
  void update(Model& model, const Model& gradient, state<Model>& /*kept*/) const {
    for_each_array([&](auto& w, const auto& g) { w -= rate * g; }, model, gradient);
  }
};

struct momentum {
  float rate, decay = 0.9F;

  template <class Model>
  struct state {
    Model velocity;
  };

  template <class Model>
  [[nodiscard]] state<Model> start(const Model& model) const {
    return {zeros(model)};
  }

  template <class Model>
  void update(Model& model, const Model& gradient, state<Model>& kept) const {
    for_each_array(
        [&](auto& w, const auto& g, auto& v) {
          v = decay * v - rate * g;
          w += v;
        },
        model, gradient, kept.velocity);
  }
};

/// Kingma and Ba, "Adam" (2015), algorithm 1.
struct adam {
  float rate, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;

  template <class Model>
  struct state {
    Model first, second;
    std::uint64_t steps = 0;
  };

  template <class Model>
  [[nodiscard]] state<Model> start(const Model& model) const {
    return {zeros(model), zeros(model), 0};
  }

  template <class Model>
  void update(Model& model, const Model& gradient, state<Model>& kept) const {
    const auto t = static_cast<float>(++kept.steps);
    const float bias1 = 1 - std::pow(beta1, t), bias2 = 1 - std::pow(beta2, t);
    for_each_array(
        [&](auto& w, const auto& g, auto& m, auto& v) {
          m = beta1 * m + (1 - beta1) * g;
          v = beta2 * v + (1 - beta2) * g.cwiseAbs2();
          w.array() -= rate * (m.array() / bias1) / ((v.array() / bias2).sqrt() + epsilon);
        },
        model, gradient, kept.first, kept.second);
  }
};

}  // namespace bench::models
