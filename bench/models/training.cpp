// SPDX-License-Identifier: MIT
// The training loop, and the settings of the models.
#include "models/training.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "cairn/adapters/eigen.hpp"
#include "cairn/checkpointer.hpp"

#include "models/alexnet.hpp"
#include "models/gpt.hpp"
#include "models/lenet.hpp"
#include "models/lr.hpp"
#include "models/mf.hpp"
#include "models/optimizers.hpp"

namespace bench::models {
namespace {

/// The items of each batch: every epoch in an order of its own.
class data_order {
 public:
  data_order(std::size_t items, std::size_t batch, std::uint64_t seed)
      : batch_(std::min(batch, items)), per_epoch_(items / batch_), seed_(seed), order_(items) {}

  [[nodiscard]] indices at(std::uint64_t iteration) {
    const auto epoch = iteration / per_epoch_;
    if (epoch != epoch_) {
      std::iota(order_.begin(), order_.end(), std::uint64_t{0});
      std::mt19937_64 rng(seed_ * 1'000'003 + epoch);
      std::shuffle(order_.begin(), order_.end(), rng);
      epoch_ = epoch;
    }
    return indices(order_).subspan(iteration % per_epoch_ * batch_, batch_);
  }

 private:
  std::size_t batch_, per_epoch_;
  std::uint64_t seed_, epoch_ = ~std::uint64_t{0};
  std::vector<std::uint64_t> order_;
};

using bf16_matrix = Eigen::Matrix<Eigen::bfloat16, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The weights that a run in BF16 computes with and saves: those of `master`, rounded.
template <class Model>
[[nodiscard]] std::vector<bf16_matrix> round_to_bf16(const Model& master) {
  std::vector<bf16_matrix> rounded;
  for_each_array([&](const auto& array) { rounded.push_back(array.template cast<Eigen::bfloat16>()); }, master);
  return rounded;
}

template <class Model>
void widen(Model& model, const std::vector<bf16_matrix>& rounded) {
  std::size_t next = 0;
  for_each_array([&](auto& array) { array = rounded[next++].template cast<float>(); }, model);
}

/// Weights in FP32.
template <class Model, class Optimizer>
struct plain_state {
  Model weights;
  typename Optimizer::template state<Model> optimizer;
};

/// Weights in BF16 and the master weights in FP32, which the optimizer updates.
template <class Model, class Optimizer>
struct bf16_state {
  struct optimizer_state {
    Model master;
    typename Optimizer::template state<Model> moments;
  };
  std::vector<bf16_matrix> weights;
  optimizer_state optimizer;
};

template <class Model, class Optimizer, class Source, bool Bf16>
class run final : public training {
  using state_type = std::conditional_t<Bf16, bf16_state<Model, Optimizer>, plain_state<Model, Optimizer>>;

 public:
  run(std::string name, Model model, Optimizer optimizer, std::shared_ptr<const Source> data, std::size_t batch,
      std::uint64_t seed)
      : name_(std::move(name)),
        optimizer_(optimizer),
        data_(std::move(data)),
        order_(data_->size(), batch, seed),
        evaluation_(data_->evaluation()),
        gradient_(zeros(model)),
        computing_(std::move(model)) {
    if constexpr (Bf16) {
      state_.optimizer.master = computing_;
      state_.optimizer.moments = optimizer_.start(computing_);
      round();
    } else {
      state_.weights = computing_;
      state_.optimizer = optimizer_.start(computing_);
    }
  }

  void step() override {
    const double loss = differentiate(model(), data_->pick(order_.at(iteration_)), gradient_);
    ++iteration_;
    if constexpr (Bf16) {
      optimizer_.update(state_.optimizer.master, gradient_, state_.optimizer.moments);
      round();
    } else {
      optimizer_.update(state_.weights, gradient_, state_.optimizer);
    }
    if (!std::isfinite(loss))
      throw std::runtime_error(name_ + " diverges: the loss of iteration " + std::to_string(iteration_) +
                               " is not finite");
  }

  [[nodiscard]] std::uint64_t iteration() const override { return iteration_; }
  [[nodiscard]] double loss() const override { return evaluate(model(), evaluation_).loss; }
  [[nodiscard]] score test() const override { return evaluate(model(), data_->test()); }

  [[nodiscard]] snapshot copy() const override { return {iteration_, arrays_of(model()), arrays_of(state_.optimizer)}; }

  [[nodiscard]] double bytes_per_weight() const override { return Bf16 ? 2 : 4; }

  void go_to(const snapshot& from) override {
    assign(model(), from.weights);
    if constexpr (Bf16) state_.weights = round_to_bf16(computing_);
    if (from.slots.empty()) return restored(part::weights, from.iteration);
    assign(state_.optimizer, from.slots);
    restored(part::weights_and_optimizer, from.iteration);
  }

  [[nodiscard]] cairn::any_mutable_state state(part what) override {
    return what == part::weights ? cairn::refer(state_.weights) : cairn::refer(state_);
  }

  void restored(part what, std::uint64_t iteration) override {
    iteration_ = iteration;
    if constexpr (Bf16) widen(computing_, state_.weights);
    if (what == part::weights) {
      if constexpr (Bf16)
        state_.optimizer = {computing_, optimizer_.start(computing_)};
      else
        state_.optimizer = optimizer_.start(state_.weights);
    } else {
      if constexpr (requires { state_.optimizer.steps; }) state_.optimizer.steps = iteration;
      if constexpr (requires { state_.optimizer.moments.steps; }) state_.optimizer.moments.steps = iteration;
    }
  }

 private:
  [[nodiscard]] Model& model() {
    if constexpr (Bf16)
      return computing_;
    else
      return state_.weights;
  }
  [[nodiscard]] const Model& model() const { return const_cast<run&>(*this).model(); }

  void round() {
    state_.weights = round_to_bf16(state_.optimizer.master);
    widen(computing_, state_.weights);
  }

  std::string name_;
  Optimizer optimizer_;
  std::shared_ptr<const Source> data_;
  data_order order_;
  decltype(std::declval<Source>().evaluation()) evaluation_;
  Model gradient_;
  Model computing_;  ///< BF16: the weights, as FP32
  state_type state_{};
  std::uint64_t iteration_ = 0;
};

/// The way to start runs of a model that `make(rng)` makes.
template <bool Bf16 = false, class Optimizer, class Source, class Make>
auto starter(std::string name, Optimizer optimizer, std::shared_ptr<const Source> data, std::size_t batch, Make make) {
  using model = std::invoke_result_t<Make, std::mt19937_64&>;
  return [=](std::uint64_t seed) -> std::unique_ptr<training> {
    std::mt19937_64 rng(seed);
    return std::make_unique<run<model, Optimizer, Source, Bf16>>(name, make(rng), optimizer, data, batch, seed);
  };
}

std::filesystem::path folder(const std::filesystem::path& data, const char* name) {
  return data.empty() ? data : data / name;
}

}  // namespace

setting gpt_setting(const std::string& name, const gpt_shape& shape, bool is_bf16) {
  const auto data = std::make_shared<const text_source>(static_cast<std::size_t>(shape.length));
  const auto make = [=](std::mt19937_64& rng) { return make_gpt(shape, rng); };
  using start_function = decltype(setting::start);
  const adam optimizer{.rate = 3e-4F};
  return {.name = name,
          .period = 2,
          .evaluate = 1,
          .periods = 12,
          .has_slots = true,
          .start = is_bf16 ? start_function(starter<true>(name, optimizer, data, 8, make))
                           : start_function(starter<false>(name, optimizer, data, 8, make)),
          .failures = 2};
}

setting setting_of(const std::string& model, const std::filesystem::path& data) {
  const auto digits = [&] { return std::make_shared<const digits_source>(folder(data, "mnist")); };
  if (model == "lr")
    return {.name = model,
            .period = 10,
            .evaluate = 1,
            .periods = 40,
            .has_slots = false,
            .start = starter(model, sgd{0.01F}, digits(), 200, [](auto&) { return make_lr(); })};
  if (model == "lenet")
    return {.name = model,
            .period = 20,
            .evaluate = 4,
            .periods = 40,
            .has_slots = true,
            .start = starter(model, momentum{0.01F}, digits(), 32, [](auto& rng) { return lenet::make_network(rng); })};
  if (model == "alexnet")
    return {.name = model,
            .period = 20,
            .evaluate = 10,
            .periods = 20,
            .has_slots = true,
            .start = starter(model, momentum{0.01F}, digits(), 32, [](auto& rng) { return make_alexnet(rng); }),
            .failures = 4};
  if (model == "gpt" || model == "gpt_bf16") return gpt_setting(model, {}, model == "gpt_bf16");
  if (model == "mf") {
    auto ratings = std::make_shared<const ratings_source>(folder(data, "jester"));
    const auto batch = std::min<std::size_t>(ratings->size() / 10, 8000);
    const auto users = ratings->users(), items = ratings->items();
    return {.name = model,
            .period = 10,
            .evaluate = 1,
            .periods = 40,
            .has_slots = false,
            .start = starter(model, sgd{0.2F}, std::move(ratings), batch,
                             [=](auto& rng) { return make_mf(users, items, 10, rng); })};
  }
  throw std::runtime_error("no model is called " + model + "; there are lr, mf, lenet, alexnet, gpt and gpt_bf16");
}

}  // namespace bench::models
