// SPDX-License-Identifier: MIT
// SGD with momentum, and Adam. Their state has the same type as the model, with one
// value or two per weight.
#pragma once

#include <cmath>
#include <cstdint>

namespace lenet {

template <class Model>
struct sgd {
  static constexpr float rate = 0.02F, momentum = 0.9F;

  Model velocity;

  [[nodiscard]] static sgd start(const Model& model) { return {zeros(model)}; }

  void update(Model& model, const Model& gradient) {
    for_each_parameter(
        [](auto& w, const auto& g, auto& v) {
          v = momentum * v - rate * g;
          w += v;
        },
        model, gradient, velocity);
  }
};

/// Kingma and Ba, "Adam" (2015), algorithm 1.
template <class Model>
struct adam {
  static constexpr float rate = 0.001F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;

  Model first_moment, second_moment;
  std::uint64_t steps{};

  [[nodiscard]] static adam start(const Model& model) {
    return {zeros(model), zeros(model)};
  }

  void update(Model& model, const Model& gradient) {
    const auto t = static_cast<float>(++steps);
    const float bias1 = 1 - std::pow(beta1, t), bias2 = 1 - std::pow(beta2, t);
    for_each_parameter(
        [=](auto& w, const auto& g, auto& m, auto& v) {
          m = beta1 * m + (1 - beta1) * g;
          v = beta2 * v + (1 - beta2) * g.cwiseAbs2();
          w.array() -=
              rate * (m.array() / bias1) / ((v.array() / bias2).sqrt() + epsilon);
        },
        model, gradient, first_moment, second_moment);
  }
};

}  // namespace lenet
