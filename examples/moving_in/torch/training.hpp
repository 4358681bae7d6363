// SPDX-License-Identifier: MIT
// The trainer of this example, without its checkpoints: a network that learns a
// function of two numbers.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace nn = torch::nn;

// [trainer]
struct trainer {
  nn::Sequential model{nn::Linear(2, 16), nn::Tanh(), nn::Dropout(0.1),
                       nn::Linear(16, 1)};
  torch::optim::Adam adam{model->parameters(), torch::optim::AdamOptions(1e-2)};
  at::Generator random = at::detail::getDefaultCPUGenerator();
  std::uint64_t step = 0;
};
// [trainer]

inline double train_one_step(trainer& all) {
  const auto points = torch::rand({32, 2}),
             target = (points.select(1, 0) * points.select(1, 1)).view({32, 1});
  all.adam.zero_grad();
  const auto loss = torch::mse_loss(all.model->forward(points), target);
  loss.backward();
  all.adam.step();
  ++all.step;
  return loss.item<double>();
}

/// The number of steps, the first argument of the program. Makes the results
/// reproducible.
inline std::uint64_t set_up(int argc, char** argv) {
  torch::manual_seed(1);
  torch::set_num_threads(1);
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
}

/// A hash of all bits of the parameters and of Adam's moments, and the next random
/// number.
inline void print(const trainer& all) {
  std::uint64_t hash = 1;
  const auto add = [&](const torch::Tensor& values) {
    const auto bits = values.detach().contiguous().flatten().view(torch::kInt);
    for (std::int64_t i = 0; i < bits.numel(); ++i)
      hash =
          (hash ^ static_cast<std::uint32_t>(bits.data_ptr<int>()[i])) * 0x100000001B3U;
  };
  for (const auto& each : all.model->parameters()) add(each);
  for (const auto& each : all.model->parameters()) {
    const auto& state =
        all.adam.state().at(c10::guts::to_string(each.unsafeGetTensorImpl()));
    add(static_cast<const torch::optim::AdamParamState&>(*state).exp_avg());
    add(static_cast<const torch::optim::AdamParamState&>(*state).exp_avg_sq());
  }
  std::cout << "state " << all.step << ' ' << std::hex << hash << std::dec << ' '
            << torch::rand(1).item<double>() << std::endl;
}
