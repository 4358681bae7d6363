// SPDX-License-Identifier: MIT
// The trainer of these examples, without its checkpoints: it fits a plane to points
// with noise.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

struct parameter {
  std::vector<float> value, momentum;
};

struct trainer {
  std::map<std::string, parameter> parameters{
      {"offset", {{0}, {0}}},
      {"slope", {std::vector<float>(8), std::vector<float>(8)}}};
  std::mt19937_64 random{1};
  double smooth_loss = 0;
  std::uint64_t step = 0;
};

inline double train_one_step(trainer& all) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto& slope = all.parameters["slope"];
  auto& offset = all.parameters["offset"];
  std::vector<float> point(slope.value.size());
  float error = offset.value[0] - 0.5F + 0.01F * uniform(all.random);
  for (std::size_t i = 0; i < point.size(); ++i) {
    point[i] = uniform(all.random);
    error += point[i] * (slope.value[i] - static_cast<float>(i));
  }
  const auto learn = [](float& value, float& momentum, float gradient) {
    momentum = 0.9F * momentum + gradient;
    value -= 0.01F * momentum;
  };
  for (std::size_t i = 0; i < point.size(); ++i)
    learn(slope.value[i], slope.momentum[i], error * point[i]);
  learn(offset.value[0], offset.momentum[0], error);
  const double loss = static_cast<double>(error) * static_cast<double>(error);
  all.smooth_loss += 0.1 * (loss - all.smooth_loss);
  ++all.step;
  return loss;
}

/// The first argument of the program.
inline std::uint64_t steps_of(int argc, char** argv) {
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
}

/// All bits of the state.
inline void print(const trainer& all) {
  std::cout << std::hexfloat << "state " << all.step << ' ' << all.smooth_loss;
  for (const auto& [name, each] : all.parameters) {
    for (const auto value : each.value) std::cout << ' ' << value;
    for (const auto value : each.momentum) std::cout << ' ' << value;
  }
  std::cout << ' ' << std::mt19937_64(all.random)() << std::endl;
}
