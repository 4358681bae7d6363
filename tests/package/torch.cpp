// SPDX-License-Identifier: MIT
// A user's program that needs cairn::torch.
#include <torch/torch.h>

#include <cairn/adapters/torch.hpp>
#include <cairn/load.hpp>
#include <cairn/save.hpp>

struct trainer {
  torch::nn::Linear model{3, 2};
  torch::optim::SGD sgd{model->parameters(), torch::optim::SGDOptions(0.1)};
  torch::data::samplers::RandomSampler order{10};
  at::Generator random = at::detail::getDefaultCPUGenerator();
};

int main(int, char** arguments) {
  trainer saved, loaded;
  cairn::save(arguments[1], saved);
  cairn::load(arguments[1], loaded);
  return loaded.model->weight.equal(saved.model->weight) ? 0 : 1;
}
