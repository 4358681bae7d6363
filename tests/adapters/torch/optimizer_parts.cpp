// SPDX-License-Identifier: MIT
#include "cairn/adapters/torch/optimizer_parts.hpp"

#include <torch/torch.h>

#include "catch.hpp"
#include "state/kept.hpp"

namespace optimizer_parts {

template <class Part>
std::string names_of(const Part& part) {
  return tests::kept(part).paths();
}

}  // namespace optimizer_parts

TEST_CASE("torch: the options of optimizers have the names of Python, and come back") {
  using namespace torch::optim;
  const auto original = AdamOptions(0.25).betas({0.5, 0.75}).eps(2).weight_decay(3).amsgrad(true);
  CHECK(optimizer_parts::names_of(original) == "amsgrad betas.0 betas.1 eps lr weight_decay");
  CHECK(optimizer_parts::names_of(AdamWOptions()) == "amsgrad betas.0 betas.1 eps lr weight_decay");
  CHECK(optimizer_parts::names_of(SGDOptions(1)) == "dampening lr momentum nesterov weight_decay");
  CHECK(optimizer_parts::names_of(RMSpropOptions()) == "alpha centered eps lr momentum weight_decay");
  CHECK(optimizer_parts::names_of(AdagradOptions()) == "eps initial_accumulator_value lr lr_decay weight_decay");
  CHECK(optimizer_parts::names_of(LBFGSOptions().max_eval(3).line_search_fn("strong_wolfe")) ==
        "history_size line_search_fn lr max_eval max_iter tolerance_change tolerance_grad");
  AdamOptions fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh == original);
}

TEST_CASE("torch: the states of parameters have the names of Python, and come back") {
  using namespace torch::optim;
  CHECK(optimizer_parts::names_of(AdamParamState()) == "exp_avg exp_avg_sq max_exp_avg_sq step");
  CHECK(optimizer_parts::names_of(AdamWParamState()) == "exp_avg exp_avg_sq max_exp_avg_sq step");
  CHECK(optimizer_parts::names_of(SGDParamState()) == "momentum_buffer");
  CHECK(optimizer_parts::names_of(RMSpropParamState()) == "grad_avg momentum_buffer square_avg step");
  CHECK(optimizer_parts::names_of(AdagradParamState()) == "step sum");
  AdamParamState original, fresh;
  original.step(4);
  original.exp_avg(torch::rand({3}));
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.step() == 4);
  CHECK(fresh.exp_avg().equal(original.exp_avg()));
  CHECK_FALSE(fresh.exp_avg_sq().defined());
}
