// SPDX-License-Identifier: MIT
// A small generative adversarial network in libtorch that learns to draw discs. Lines
// that end in `// +` are what Cairn adds to the trainer. Stop or kill it at any time
// and start it again: the result is the same as without an interruption.
//
// Usage: torch_gan [directory [steps [kill at this step]]]
#include <torch/torch.h>

#include <cairn/adapters/torch.hpp>  // +
#include <cairn/cairn.hpp>           // +
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace nn = torch::nn;

constexpr std::int64_t side = 16, noise = 8, batch_size = 16, images = 256;

nn::Sequential make_generator() {
  return nn::Sequential(
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(noise, 32, 4).bias(false)),
      nn::BatchNorm2d(32), nn::ReLU(),
      nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(32, 16, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(16), nn::ReLU(),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(16, 1, 4).stride(2).padding(1)),
      nn::Tanh());
}

nn::Sequential make_discriminator() {
  const auto leaky = [] {
    return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2));
  };
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 4).stride(2).padding(1)),
                        leaky(),
                        nn::Conv2d(nn::Conv2dOptions(16, 32, 4).stride(2).padding(1)),
                        nn::BatchNorm2d(32), leaky(), nn::Dropout(0.25),
                        nn::Conv2d(nn::Conv2dOptions(32, 1, 4)), nn::Sigmoid());
}

/// Image i of the data: a disc, white on black.
torch::Tensor disc(std::int64_t i) {
  const auto x = torch::arange(side).view({1, side}),
             y = torch::arange(side).view({side, 1});
  const auto distance = (x - 4 - i % 8).pow(2) + (y - 4 - i / 8 % 8).pow(2);
  return (distance < 4 + i % 13).to(torch::kFloat).mul(2).sub(1).view({1, side, side});
}

struct trainer {
  // [state]
  nn::Sequential generator = make_generator(), discriminator = make_discriminator();
  torch::optim::Adam generator_adam{generator->parameters(),
                                    torch::optim::AdamOptions(2e-3).betas({0.5, 0.9})};
  torch::optim::Adam discriminator_adam{
      discriminator->parameters(), torch::optim::AdamOptions(1e-3).betas({0.5, 0.9})};
  torch::data::samplers::RandomSampler order{images};
  at::Generator random = at::detail::getDefaultCPUGenerator();
  std::uint64_t step = 0;
  // [state]

  torch::Tensor next_images() {
    auto batch = order.next(batch_size);
    if (!batch) {
      order.reset();
      batch = order.next(batch_size);
    }
    std::vector<torch::Tensor> drawn;
    for (const auto i : *batch) drawn.push_back(disc(static_cast<std::int64_t>(i)));
    return torch::stack(drawn);
  }

  double train_one_step() {
    const auto real = next_images(),
               made = generator->forward(torch::randn({batch_size, noise, 1, 1}));
    const auto loss_of = [&](const torch::Tensor& image, double is_real) {
      const auto guess = discriminator->forward(image).flatten();
      return torch::binary_cross_entropy(guess, torch::full_like(guess, is_real));
    };
    discriminator_adam.zero_grad();
    (loss_of(real, 0.9) + loss_of(made.detach(), 0)).backward();
    discriminator_adam.step();
    generator_adam.zero_grad();
    const auto loss = loss_of(made, 1);
    loss.backward();
    generator_adam.step();
    ++step;
    return loss.item<double>();
  }
};

/// A fingerprint of all parameters, bit by bit.
std::uint64_t fingerprint(const trainer& of) {
  std::uint64_t hash = 1;
  for (const auto* module : {&of.generator, &of.discriminator})
    for (const auto& parameter : (*module)->parameters()) {
      const auto bits = parameter.detach().contiguous().view({-1}).view(torch::kInt);
      for (std::int64_t i = 0; i < bits.numel(); ++i)
        hash = (hash ^ static_cast<std::uint32_t>(bits.data_ptr<int>()[i])) *
               0x100000001B3U;
    }
  return hash;
}

int main(int argc, char** argv) {
  const std::string place = argc > 1 ? argv[1] : "runs/torch_gan";
  const auto steps = argc > 2 ? std::stoull(argv[2]) : 60,
             killed_at = argc > 3 ? std::stoull(argv[3]) : 0;
  torch::manual_seed(1);
  // sums in one order, so that runs can be compared bit by bit
  torch::set_num_threads(1);
  trainer all;
  cairn::checkpointer_options options{.preempt = {SIGTERM}};     // +
  options.when = cairn::policies::every_steps{5};                // +
  cairn::checkpointer ckpt{place, options};                      // +
  if (ckpt.restore(all))                                         // +
    std::cout << "resumed from step " << all.step << std::endl;  // +
  std::optional<double> loss;
  while (all.step < steps) {
    loss = all.train_one_step();
    if (ckpt.step(all, {.step = all.step, .loss = loss}).stop) return 0;  // +
    if (all.step == killed_at) std::raise(SIGKILL);
  }
  ckpt.save(all, {.step = all.step, .loss = loss});  // +
  std::cout << "state " << std::hex << fingerprint(all) << std::endl;
}
