// SPDX-License-Identifier: MIT
// The trainer, from the layers and the optimizer of examples/lenet. Compiled for this machine: its speed is not
// measured.
#include "codecs/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>

#include <unistd.h>

#include "lenet/dataset.hpp"
#include "lenet/drawn.hpp"
#include "lenet/idx.hpp"
#include "lenet/layers.hpp"
#include "lenet/optimizer.hpp"

namespace bench {
namespace {

using lenet::Index;
using lenet::matrix;

constexpr std::size_t batch_size = 128;

struct mlp {
  std::vector<lenet::linear> layers;
};

/// Calls `body` for every weight and bias with the like ones of all `models`.
template <class Body, class First, class... Models>
void for_each_parameter(const Body& body, First& first, Models&... models) {
  for (std::size_t i = 0; i < first.layers.size(); ++i) {
    body(first.layers[i].weight, models.layers[i].weight...);
    body(first.layers[i].bias, models.layers[i].bias...);
  }
}

mlp zeros(const mlp& like) {
  mlp made = like;
  for_each_parameter([](auto& parameter) { parameter.setZero(); }, made);
  return made;
}

/// He et al., "Delving Deep into Rectifiers" (2015): normal, of variance 2 / inputs; biases 0.
mlp make_mlp(const std::vector<std::size_t>& widths, std::mt19937_64& rng) {
  mlp made;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    auto& [weight, bias] = made.layers.emplace_back();
    weight.resize(static_cast<Index>(widths[i + 1]), static_cast<Index>(widths[i]));
    bias.setZero(static_cast<Index>(widths[i + 1]));
    std::normal_distribution<float> normal(0, std::sqrt(2.0F / static_cast<float>(widths[i])));
    std::generate_n(weight.data(), weight.size(), [&] { return normal(rng); });
  }
  return made;
}

lenet::batch take(const lenet::dataset& from, std::span<const std::uint32_t> which) {
  lenet::batch picked{matrix(static_cast<Index>(which.size()), static_cast<Index>(lenet::image_pixels)), {}};
  float* out = picked.images.data();
  for (const std::size_t place : which) {
    const auto image = std::span(from.pixels).subspan(place * lenet::image_pixels, lenet::image_pixels);
    out = std::transform(image.begin(), image.end(), out, [](auto grey) { return static_cast<float>(grey) / 255; });
    picked.labels.push_back(from.labels[place]);
  }
  return picked;
}

/// What every layer takes in, and the scores at the end.
std::vector<matrix> forward(const mlp& model, const matrix& images) {
  std::vector<matrix> x{images};
  for (const auto& layer : model.layers) {
    x.push_back(lenet::forward(layer, x.back()));
    if (&layer != &model.layers.back()) x.back() = lenet::relu(x.back());
  }
  return x;
}

/// Fills `gradient`; gives the loss.
float backward(const mlp& model, const lenet::batch& seen, mlp& gradient) {
  const auto x = forward(model, seen.images);
  auto [loss, correct, delta] = lenet::cross_entropy(x.back(), seen.labels);
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    lenet::weight_gradient(x[i], delta, gradient.layers[i]);
    if (i > 0) delta = lenet::relu_gradient(x[i], lenet::input_gradient(model.layers[i], delta));
  }
  return loss;
}

/// On the first `count` images, at most.
double accuracy(const mlp& model, const lenet::dataset& data, std::size_t count) {
  std::vector<std::uint32_t> all(std::min(count, data.size()));
  std::iota(all.begin(), all.end(), 0U);
  const auto seen = take(data, all);
  const auto correct = lenet::cross_entropy(forward(model, seen.images).back(), seen.labels).correct;
  return static_cast<double>(correct) / static_cast<double>(all.size());
}

parameter_values values_of(const mlp& model) {
  parameter_values values;
  for_each_parameter([&](const auto& p) { values.emplace_back(p.data(), p.data() + p.size()); }, model);
  return values;
}

std::vector<parameter> parameters_of(const mlp& model) {
  std::vector<parameter> parameters;
  for_each_parameter(
      [&](const auto& p) {
        const auto n = parameters.size();
        parameters.push_back({"layers." + std::to_string(n / 2) + (n % 2 == 0 ? ".weight" : ".bias"),
                              static_cast<std::size_t>(p.rows()), static_cast<std::size_t>(p.cols())});
      },
      model);
  return parameters;
}

/// An endless stream of places in the data, each epoch in an order of its own.
class shuffled {
 public:
  explicit shuffled(std::size_t images) : order_(images), next_(images) { std::iota(order_.begin(), order_.end(), 0U); }

  std::span<const std::uint32_t> batch(std::mt19937_64& rng) {
    if (next_ + batch_size > order_.size()) {
      std::shuffle(order_.begin(), order_.end(), rng);
      next_ = 0;
    }
    const auto count = std::min(batch_size, order_.size());
    next_ += batch_size;
    return std::span(order_).subspan(next_ - batch_size, count);
  }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t next_;
};

/// Keeps the weights when `left` steps are to come, if the chain has a snapshot there.
void keep(weight_chain& chain, std::size_t deltas, std::size_t left, const mlp& model) {
  if (left % chain.apart == 0 && left / chain.apart <= deltas) chain.snapshots.push_back(values_of(model));
}

}  // namespace

training_run train(const training_options& options) {
  if (options.deltas > 0 && options.steps <= 10) throw std::invalid_argument("deltas 10 steps apart take 11 steps");
  if (options.widths.size() < 2 || options.widths.front() != lenet::image_pixels || options.widths.back() != 10)
    throw std::invalid_argument("widths begin with 784 and end with 10");
  constexpr std::size_t all = ~std::size_t{0};
  const auto digits = options.folder.empty() ? lenet::draw_digits(all) : lenet::read_digits(options.folder, all);
  std::mt19937_64 rng(2020);
  mlp model = make_mlp(options.widths, rng), gradient = zeros(model);
  auto optimizer = lenet::adam<mlp>::start(model);
  shuffled order(digits.train.size());

  training_run run;
  run.ones.apart = 1;
  run.tens.apart = 10;
  for (std::size_t step = 1; step <= options.steps; ++step) {
    run.loss = static_cast<double>(backward(model, take(digits.train, order.batch(rng)), gradient));
    optimizer.update(model, gradient);
    for (auto* chain : {&run.ones, &run.tens})
      if (options.deltas > 0) keep(*chain, options.deltas, options.steps - step, model);
    if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\rtraining, step %zu/%zu", step, options.steps);
  }
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%40s\r", "");
  run.parameters = parameters_of(model);
  run.weights = values_of(model);
  run.first_moment = values_of(optimizer.first_moment);
  run.second_moment = values_of(optimizer.second_moment);
  run.data = options.folder.empty() ? "drawn digits" : "MNIST";
  run.accuracy = accuracy(model, digits.test, options.tested);
  return run;
}

}  // namespace bench
