// The trainer of this example, without its checkpoints: a network that learns a function of two numbers.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace nn = torch::nn;

// [trainer]
struct trainer {
  nn::Sequential model{nn::Linear(2, 16), nn::Tanh(), nn::Dropout(0.1), nn::Linear(16, 1)};
  torch::optim::Adam adam{model->parameters(), torch::optim::AdamOptions(1e-2)};
  at::Generator random = at::detail::getDefaultCPUGenerator();
  std::uint64_t step = 0;
};
// [trainer]

inline double train_one_step(trainer& all) {
  const auto points = torch::rand({32, 2}), wanted = (points.select(1, 0) * points.select(1, 1)).view({32, 1});
  all.adam.zero_grad();
  const auto loss = torch::mse_loss(all.model->forward(points), wanted);
  loss.backward();
  all.adam.step();
  ++all.step;
  return loss.item<double>();
}

/// The first argument of the program.
inline std::uint64_t steps_of(int argc, char** argv) {
  torch::manual_seed(1);
  torch::set_num_threads(1);
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
}

/// A sum of all parameters that depends on each bit, and the next random number.
inline void print(const trainer& all) {
  std::cout << std::hexfloat << "state " << all.step;
  for (const auto& each : all.model->parameters()) {
    const auto values = each.detach().flatten().to(torch::kDouble);
    std::cout << ' ' << (values * torch::arange(1, values.numel() + 1)).sum().item<double>();
  }
  std::cout << ' ' << torch::rand(1).item<double>() << std::endl;
}
