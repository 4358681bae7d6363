// SPDX-License-Identifier: MIT
#include "cairn/adapters/torch.hpp"

#include <torch/torch.h>

#include "cairn/checkpointer.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace trainers {

struct trainer {
  torch::nn::Sequential model{torch::nn::Linear(8, 16), torch::nn::Dropout(0.2), torch::nn::BatchNorm1d(16),
                              torch::nn::Linear(16, 1)};
  torch::optim::Adam optimizer{model->parameters(), torch::optim::AdamOptions(0.05)};
  torch::optim::StepLR schedule{optimizer, 3, 0.5};
  torch::data::samplers::RandomSampler order{64};
  at::Generator random = at::detail::getDefaultCPUGenerator();

  double step() {
    auto batch = order.next(8);
    if (!batch) {
      order.reset();
      batch = order.next(8);
    }
    const auto x = torch::sin(torch::arange(64 * 8, torch::kFloat).view({64, 8}))
                       .index({torch::tensor(std::vector<std::int64_t>(batch->begin(), batch->end()))});
    optimizer.zero_grad();
    const auto loss = (model->forward(x) - x.sum(1, true)).pow(2).mean();
    loss.backward();
    optimizer.step();
    schedule.step();
    return loss.item<double>();
  }
  static auto cairn_fields() {
    return cairn::fields<&trainer::model, &trainer::optimizer, &trainer::schedule, &trainer::order, &trainer::random>{};
  }
};

}  // namespace trainers

TEST_CASE("torch: a trainer goes on bit for bit from a checkpoint in the background") {
  cairn::any_store store = cairn::stores::memory();
  std::vector<double> losses;
  {
    torch::manual_seed(1);
    trainers::trainer original;
    cairn::checkpointer ckpt(store, {.when = cairn::policies::every_steps{5}});
    for (std::uint64_t step = 1; step <= 19; ++step) {
      losses.push_back(original.step());
      static_cast<void>(ckpt.step(original, {.step = step}));
      static_cast<void>(ckpt.wait());
    }
  }
  torch::manual_seed(2);
  trainers::trainer resumed;
  cairn::checkpointer ckpt(store);
  for (int i = 0; i < 4; ++i) static_cast<void>(resumed.step());
  const auto report = ckpt.restore(resumed);
  REQUIRE(report);
  REQUIRE(report->step == 15);
  for (auto step = report->step; step < losses.size(); ++step) CHECK(resumed.step() == losses[step]);
}
