// SPDX-License-Identifier: MIT
#include "cairn/adapters/torch.hpp"

#include <torch/torch.h>

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace optimizers {

using optimizer = std::unique_ptr<torch::optim::Optimizer>;
using make_optimizer = std::function<optimizer(torch::nn::Module&)>;

struct net : torch::nn::Module {
  net() : a(register_module("a", torch::nn::Linear(6, 5))), b(register_module("b", torch::nn::Linear(5, 1))) {
    frozen = register_parameter("frozen", torch::rand({2}), false);
  }
  torch::nn::Linear a, b;
  torch::Tensor frozen;
};

struct trainer {
  std::shared_ptr<net> model = std::make_shared<net>();
  optimizer opt;

  explicit trainer(const make_optimizer& make) : opt(make(*model)) {}

  void step(std::int64_t number) {
    const auto x = torch::sin(torch::arange(24, torch::kFloat).view({4, 6}) + number);
    opt->step([&] {
      opt->zero_grad();
      const auto loss = model->b(torch::tanh(model->a(x))).pow(2).sum();
      loss.backward();
      return loss;
    });
  }
  static auto cairn_fields() { return cairn::fields<&trainer::model, &trainer::opt>{}; }
};

template <class Optimizer, class Options>
make_optimizer with(Options options) {
  return [options](torch::nn::Module& model) { return std::make_unique<Optimizer>(model.parameters(), options); };
}

/// Two groups with different options.
optimizer in_groups(torch::nn::Module& model) {
  auto& own = dynamic_cast<net&>(model);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(own.b->parameters(), std::make_unique<torch::optim::AdamOptions>(0.5));
  groups.emplace_back(own.a->parameters());
  return std::make_unique<torch::optim::Adam>(groups, torch::optim::AdamOptions(0.01));
}

const std::vector<std::pair<std::string, make_optimizer>>& all() {
  using namespace torch::optim;
  static const std::vector<std::pair<std::string, make_optimizer>> each{
      {"Adam", with<Adam>(AdamOptions(0.02))},
      {"Adam, amsgrad", with<Adam>(AdamOptions(0.02).amsgrad(true))},
      {"Adam, groups", in_groups},
      {"AdamW", with<AdamW>(AdamWOptions(0.02))},
      {"SGD", with<SGD>(SGDOptions(0.02))},
      {"SGD, momentum", with<SGD>(SGDOptions(0.02).momentum(0.9).nesterov(true))},
      {"RMSprop", with<RMSprop>(RMSpropOptions(0.02))},
      {"RMSprop, centered, momentum", with<RMSprop>(RMSpropOptions(0.02).centered(true).momentum(0.5))},
      {"Adagrad", with<Adagrad>(AdagradOptions(0.02))},
      {"LBFGS", with<LBFGS>(LBFGSOptions(0.02).max_iter(4).history_size(3))},
      {"LBFGS, line search", with<LBFGS>(LBFGSOptions(0.5).max_iter(4).line_search_fn("strong_wolfe"))}};
  return each;
}

void check_same(const trainer& a, const trainer& b) {
  const auto x = a.model->parameters(), y = b.model->parameters();
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i].equal(y[i]));
}

}  // namespace optimizers

TEST_CASE("torch: training goes on bit for bit from the state of every optimizer, in new and in used ones") {
  for (const auto& [name, make] : optimizers::all()) {
    INFO(name);
    optimizers::trainer original(make), fresh(make), used(make);
    for (int i = 0; i < 3; ++i) original.step(i);
    for (int i = 0; i < 5; ++i) used.step(-i);
    const tests::kept stored(original);
    for (auto* other : {&fresh, &used}) {
      stored.load(*other);
      CHECK(tests::kept(*other) == stored);
    }
    for (int i = 3; i < 6; ++i)
      for (auto* each : {&original, &fresh, &used}) each->step(i);
    optimizers::check_same(original, fresh);
    optimizers::check_same(original, used);
  }
}

TEST_CASE("torch: an optimizer that has not made a step takes the states away from one that has") {
  for (const auto& [name, make] : optimizers::all()) {
    INFO(name);
    optimizers::trainer original(make), used(make);
    const tests::kept stored(original);
    for (int i = 0; i < 3; ++i) used.step(i);
    stored.load(used);
    CHECK(used.opt->state().size() == original.opt->state().size());  // Adagrad makes its states at once
    for (auto* each : {&original, &used}) each->step(7);
    optimizers::check_same(original, used);
  }
}

namespace optimizers {

/// The paths of a trainer's optimizer below `prefix`, after one step.
std::string names_below(const std::string& prefix, const make_optimizer& make) {
  trainer made(make);
  made.step(1);
  const tests::kept kept(made.opt);
  std::string names;
  for (const auto& leaf : kept.contents.leaves)
    if (leaf.path.starts_with(prefix)) names += (names.empty() ? "" : " ") + leaf.path.substr(prefix.size());
  return names;
}

}  // namespace optimizers

TEST_CASE("torch: the options of optimizers have the names of Python, and come back") {
  using namespace torch::optim;
  const auto names_of = [](const optimizers::make_optimizer& make) {
    return optimizers::names_below("param_groups.0.", make);
  };
  CHECK(names_of(optimizers::with<Adam>(AdamOptions())) == "amsgrad betas.0 betas.1 eps lr weight_decay");
  CHECK(names_of(optimizers::with<AdamW>(AdamWOptions())) == "amsgrad betas.0 betas.1 eps lr weight_decay");
  CHECK(names_of(optimizers::with<SGD>(SGDOptions(1))) == "dampening lr momentum nesterov weight_decay");
  CHECK(names_of(optimizers::with<RMSprop>(RMSpropOptions())) == "alpha centered eps lr momentum weight_decay");
  CHECK(names_of(optimizers::with<Adagrad>(AdagradOptions())) ==
        "eps initial_accumulator_value lr lr_decay weight_decay");
  CHECK(names_of(optimizers::with<LBFGS>(LBFGSOptions().max_eval(3).line_search_fn("strong_wolfe"))) ==
        "history_size line_search_fn lr max_eval max_iter tolerance_change tolerance_grad");
  const auto original = AdamOptions(0.25).betas({0.5, 0.75}).eps(2).weight_decay(3).amsgrad(true);
  optimizers::trainer saved(optimizers::with<Adam>(original)), fresh(optimizers::with<Adam>(AdamOptions()));
  CHECK(tests::comes_back(saved, fresh));
  CHECK(static_cast<const AdamOptions&>(fresh.opt->param_groups()[0].options()) == original);
}

TEST_CASE("torch: the states of parameters have the names of Python") {
  using namespace torch::optim;
  const auto names_of = [](const optimizers::make_optimizer& make) {
    return optimizers::names_below("state.1.", make);  // parameter 0 is frozen
  };
  CHECK(names_of(optimizers::with<Adam>(AdamOptions())) == "exp_avg exp_avg_sq max_exp_avg_sq step");
  CHECK(names_of(optimizers::with<AdamW>(AdamWOptions())) == "exp_avg exp_avg_sq max_exp_avg_sq step");
  CHECK(names_of(optimizers::with<SGD>(SGDOptions(1).momentum(0.5))) == "momentum_buffer");
  CHECK(names_of(optimizers::with<RMSprop>(RMSpropOptions())) == "grad_avg momentum_buffer square_avg step");
  CHECK(names_of(optimizers::with<Adagrad>(AdagradOptions())) == "step sum");
}

TEST_CASE("torch: the paths of an optimizer") {
  optimizers::trainer original(optimizers::in_groups);
  original.step(1);
  const auto paths = ' ' + tests::kept(original).paths() + ' ';
  for (const auto* each : {"opt.kind", "opt.param_groups.0.lr", "opt.param_groups.1.betas.0", "opt.params.1",
                           "opt.state.0.exp_avg", "opt.state.3.step", "opt.state_numbers"})
    CHECK(paths.find(' ' + std::string(each) + ' ') != std::string::npos);
}

TEST_CASE("torch: two optimizers of one state") {
  struct pair {
    optimizers::trainer one{optimizers::all()[0].second}, two{optimizers::all()[5].second};
  };
  pair original, fresh;
  original.one.step(1);
  original.two.step(2);
  CHECK(tests::comes_back(original, fresh));
  for (auto* each : {&original, &fresh}) each->one.step(3), each->two.step(3);
  optimizers::check_same(original.one, fresh.one);
  optimizers::check_same(original.two, fresh.two);
}

TEST_CASE("torch: the options of a checkpoint are loaded") {
  optimizers::trainer original(optimizers::in_groups), other(optimizers::in_groups);
  original.opt->param_groups()[0].options().set_lr(0.125);
  original.step(1);
  tests::kept(original).load(other);
  CHECK(other.opt->param_groups()[0].options().get_lr() == 0.125);
  CHECK(other.opt->param_groups()[1].options().get_lr() == 0.01);
}

TEST_CASE("torch: an optimizer of another type, or with other groups, is refused and stays as it was") {
  using namespace torch::optim;
  optimizers::trainer original(optimizers::with<Adam>(AdamOptions(0.02)));
  original.step(1);
  const tests::kept stored(original);
  const auto refused = [&](const optimizers::make_optimizer& make, const std::string& a, const std::string& b) {
    optimizers::trainer other(make);
    other.step(2);
    const tests::kept before(other);
    const auto failure = sample::failure_of([&] { stored.load(other); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK_THAT(failure.sentence, ContainsSubstring(a) && ContainsSubstring(b));
    CHECK(tests::kept(other) == before);
  };
  refused(optimizers::with<SGD>(SGDOptions(0.1)), "opt.kind",
          "is an optimizer Adam in the checkpoint and SGD in the state");
  refused(optimizers::with<AdamW>(AdamWOptions(0.1)), "opt.kind", "AdamW");
  refused(optimizers::in_groups, "opt.params", "groups of 5 parameters in the checkpoint, and of 2 and 2 in the state");
}

TEST_CASE("torch: states come back where those of the optimizer have other tensors, as after a step back") {
  using namespace torch::optim;
  const auto go_on = [](const optimizers::make_optimizer& stored_by, int steps, const optimizers::make_optimizer& into,
                        int own_steps) {
    optimizers::trainer original(stored_by), used(into);
    for (int i = 0; i < steps; ++i) original.step(i);
    for (int i = 0; i < own_steps; ++i) used.step(-i);
    CHECK(tests::comes_back(original, used));
    for (auto* each : {&original, &used}) each->step(9);
    optimizers::check_same(original, used);
  };
  const auto lbfgs = [](int iterations, int history) {
    return optimizers::with<LBFGS>(LBFGSOptions(0.02).max_iter(iterations).history_size(history));
  };
  go_on(lbfgs(1, 3), 1, lbfgs(1, 3), 4);  // H_diag has whole numbers after the first iteration
  go_on(lbfgs(1, 3), 4, lbfgs(1, 3), 1);
  go_on(lbfgs(4, 10), 5, lbfgs(4, 3), 5);
  const auto adam = [](bool amsgrad) { return optimizers::with<Adam>(AdamOptions(0.02).amsgrad(amsgrad)); };
  go_on(adam(false), 3, adam(true), 2);
  go_on(adam(true), 3, adam(false), 2);
  go_on(optimizers::with<RMSprop>(RMSpropOptions(0.02)), 3,
        optimizers::with<RMSprop>(RMSpropOptions(0.02).centered(true).momentum(0.5)), 2);
}

TEST_CASE("torch: parameters of other shapes or in another order are refused, complex ones come back") {
  const auto optimizer_of = [](std::vector<torch::Tensor> parameters) {
    for (auto& each : parameters) each.set_requires_grad(true);
    return torch::optim::Adam(parameters, torch::optim::AdamOptions(0.1));
  };
  auto original = optimizer_of({torch::rand({2, 3}), torch::rand({4})});
  auto other = optimizer_of({torch::rand({4}), torch::rand({2, 3})});
  const auto failure = sample::failure_of([&] { tests::kept(original).load(other); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK(failure.says("parameter 0 of shape [2, 3] in the checkpoint and [4] in the state"));

  auto numbers = optimizer_of({torch::rand({3}, torch::kComplexFloat)});
  auto fresh = optimizer_of({torch::rand({3}, torch::kComplexFloat)});
  for (auto& each : numbers.parameters()) each.mutable_grad() = torch::ones_like(each);
  numbers.step();
  CHECK(tests::comes_back(numbers, fresh));
  for (auto* each : {&numbers, &fresh}) {
    each->parameters()[0].mutable_grad() = torch::ones({3}, torch::kComplexFloat);
    CHECK_NOTHROW(each->step());
  }
}

namespace optimizers {

/// Has Adam's options, and states of its own.
struct lion_state : torch::optim::OptimizerCloneableParamState<lion_state> {};
struct lion : torch::optim::Optimizer {
  explicit lion(std::vector<torch::Tensor> parameters)
      : Optimizer(std::move(parameters), std::make_unique<torch::optim::AdamOptions>(0.1)) {
    state()[c10::guts::to_string(this->parameters()[0].unsafeGetTensorImpl())] = std::make_unique<lion_state>();
  }
  torch::Tensor step(LossClosure) override { return {}; }
};

/// Adds a member to Adam, and has an adapter.
struct counting_adam : torch::optim::Adam {
  using Adam::Adam;
  std::uint64_t count = 0;
};

}  // namespace optimizers

template <>
struct cairn::adapter<optimizers::counting_adam> {
  template <class Field>
  static void fields(optimizers::counting_adam& of, const Field& field) {
    field("base", static_cast<torch::optim::Adam&>(of));
    field("count", of.count);
  }
};

TEST_CASE("torch: classes derived from libtorch's optimizers lose nothing") {
  const auto code_of = [](const auto& state) {
    return sample::failure_of([&] { static_cast<void>(cairn::detail::describe(state)); }).code;
  };
  const std::vector<torch::Tensor> parameters{torch::rand({3}, torch::requires_grad())};
  const optimizers::optimizer lion = std::make_unique<optimizers::lion>(parameters);
  CHECK(code_of(lion) == cairn::errc::unsupported);
  const optimizers::optimizer hidden = std::make_unique<optimizers::counting_adam>(parameters);
  CHECK(code_of(hidden) == cairn::errc::unsupported);
  const auto original = std::make_shared<optimizers::counting_adam>(parameters);
  auto fresh = std::make_shared<optimizers::counting_adam>(parameters);
  original->count = 5;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh->count == 5);
}

TEST_CASE("torch: a filter that leaves the optimizer out leaves its states as they are") {
  optimizers::trainer original(optimizers::in_groups), used(optimizers::in_groups);
  const tests::kept stored(original);
  for (int i = 0; i < 3; ++i) used.step(i);
  cairn::detail::match_options options;
  options.filter = [](std::string_view path) { return path.starts_with("model."); };
  stored.load(used, options);
  CHECK(used.opt->state().size() == 4);

  used.step(1);
  optimizers::trainer fresh(optimizers::in_groups);
  options.filter = [](std::string_view path) { return !path.starts_with("opt.state."); };
  tests::kept(used).load(fresh, options);
  CHECK_NOTHROW(fresh.step(1));  // the load has made no state without tensors
}

TEST_CASE("torch: damaged numbers of states and optimizers of other libraries are errors") {
  optimizers::trainer original(optimizers::in_groups), other(optimizers::in_groups);
  original.step(1);
  tests::kept stored(original);
  auto& numbers = stored.bytes.at("opt.state_numbers");
  REQUIRE(numbers.size() >= 8);
  numbers[0] = std::byte{200};
  CHECK(sample::failure_of([&] { stored.load(other); }).code == cairn::errc::mismatch);
  CHECK(other.opt->state().empty());

  struct own_options : torch::optim::OptimizerCloneableOptions<own_options> {};
  struct own : torch::optim::Optimizer {
    using Optimizer::Optimizer;
    torch::Tensor step(LossClosure) override { return {}; }
  };
  const optimizers::optimizer unknown =
      std::make_unique<own>(std::vector<torch::Tensor>{torch::rand({2})}, std::make_unique<own_options>());
  STATIC_REQUIRE_FALSE(cairn::saveable<own>);
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::describe(unknown)); }).code ==
        cairn::errc::unsupported);
  const optimizers::optimizer null;
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::describe(null)); }).code == cairn::errc::invalid);
}
