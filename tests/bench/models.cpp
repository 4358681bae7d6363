// SPDX-License-Identifier: MIT
// The gradients of the models of bench/models, numerically; optimizers, data and the replay of runs.
#include "models/training.hpp"

#include <zlib.h>

#include <catch.hpp>

#include "models/alexnet.hpp"
#include "models/gpt.hpp"
#include "models/lenet.hpp"
#include "models/lr.hpp"
#include "models/mf.hpp"
#include "models/optimizers.hpp"

namespace {

using namespace bench::models;
using Catch::Matchers::Contains;

std::mt19937_64 rng_of(std::uint64_t seed) { return std::mt19937_64(seed); }

/// Compares, for each array of `at`, the change of `loss()` along a direction with the gradient. The direction is the
/// sum of a random one and of the gradient's: the first finds elements that the gradient lacks, the second has a
/// derivative that is large beside rounding errors.
template <class State, class Loss>
void require_gradient(State& at, const State& gradient, const Loss& loss) {
  auto rng = rng_of(5);
  for_each_array(
      [&](auto& w, const auto& g) {
        REQUIRE(g.norm() > 0);
        matrix direction = draw_normal(w.rows(), w.cols(), 1, rng);
        direction = direction / direction.norm() + g / g.norm();
        const auto expected = g.cwiseProduct(direction).sum();
        const auto kept = w;
        // Large steps cross the kinks of ReLU and pooling, small ones are lost in rounding: the best of several counts.
        double least_error = 1;
        for (const float change : {2e-3F, 6e-4F, 2e-4F, 6e-5F}) {
          const float width = change / std::max(expected, 0.02F);
          w = kept + width * direction;
          const double above = loss();
          w = kept - width * direction;
          const double below = loss();
          const double numeric = (above - below) / (2 * static_cast<double>(width));
          least_error = std::min(least_error, std::abs(numeric / static_cast<double>(expected) - 1));
        }
        w = kept;
        CHECK(least_error < 0.02);
      },
      at, gradient);
}

/// A loss of which `weights` is the gradient by `y`.
double weighed(const matrix& y, const matrix& weights) { return static_cast<double>(y.cwiseProduct(weights).sum()); }

template <class Model, class Batch>
void require_model_gradient(Model model, const Batch& batch) {
  auto rng = rng_of(9);  // without noise, ReLU of a flat background is at its kink: biases begin at 0
  for_each_array([&](auto& w) { w += draw_normal(w.rows(), w.cols(), 0.01F, rng); }, model);
  auto gradient = zeros(model);
  const double loss = differentiate(model, batch, gradient);
  CHECK(loss == Approx(evaluate(model, batch).loss).epsilon(1e-5));
  require_gradient(model, gradient, [&] { return evaluate(model, batch).loss; });
}

std::vector<std::uint64_t> first(std::size_t count) {
  std::vector<std::uint64_t> which(count);
  std::iota(which.begin(), which.end(), std::uint64_t{0});
  return which;
}

/// A folder that is deleted at the end, with jester5k.tsv.gz.
class jester_folder {
 public:
  explicit jester_folder(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / "cairn_bench_models_jester") {
    std::filesystem::create_directories(path_);
    const gzFile file = gzopen((path_ / "jester5k.tsv.gz").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }
  jester_folder(const jester_folder&) = delete;
  jester_folder& operator=(const jester_folder&) = delete;
  ~jester_folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string ratings_text(std::string_view last) {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += std::to_string(i / 40) + '\t' + std::to_string(i % 40) + "\t-2.5\n";
  return text.append(last);
}

TEST_CASE("gradients of layers") {
  auto rng = rng_of(1);
  matrix x = draw_normal(6, 8, 1, rng);
  SECTION("dense") {
    auto layer = make_dense(8, 5, 1, rng);
    auto gradient = zeros(layer);
    const matrix weights = draw_normal(6, 5, 1, rng);
    const matrix dx = backward(layer, x, weights, gradient);
    const auto loss = [&] { return weighed(forward(layer, x), weights); };
    require_gradient(layer, gradient, loss);
    require_gradient(x, dx, loss);
  }
  SECTION("convolution and pooling") {
    constexpr geometry g{.channels = 2, .side = 6, .kernel = 3, .pad = 1};
    auto layer = make_convolution(3, g, rng);
    auto gradient = zeros(layer);
    matrix images = draw_normal(4, 2 * 36, 1, rng);
    const matrix weights = draw_normal(4, 3 * 9, 1, rng);
    const auto loss = [&] { return weighed(pool_relu(forward(layer, g, images), 6), weights); };
    const matrix dx = backward(layer, g, images, pool_relu_gradient(forward(layer, g, images), 6, weights), gradient);
    require_gradient(layer, gradient, loss);
    require_gradient(images, dx, loss);
  }
  SECTION("layer normalization") {
    auto layer = make_layer_norm(8);
    layer.scale += draw_normal(8, 1, 0.3F, rng);
    auto gradient = zeros(layer);
    const matrix weights = draw_normal(6, 8, 1, rng);
    const matrix dx = backward(layer, normalize(x), weights, gradient);
    const auto loss = [&] { return weighed(forward(layer, normalize(x)), weights); };
    require_gradient(layer, gradient, loss);
    require_gradient(x, dx, loss);
  }
  SECTION("attention") {
    const attention_shape shape{.length = 3, .heads = 2};
    matrix qkv = draw_normal(6, 24, 1, rng);
    const matrix weights = draw_normal(6, 8, 1, rng);
    const matrix dx = attend_gradient(shape, qkv, attend(shape, qkv), weights);
    require_gradient(qkv, dx, [&] { return weighed(attend(shape, qkv).mixed, weights); });
  }
  SECTION("embedding") {
    const std::vector<std::uint8_t> tokens{1, 4, 1, 0};
    matrix table = draw_normal(5, 8, 1, rng), gradient = matrix::Zero(5, 8);
    const matrix weights = draw_normal(4, 8, 1, rng);
    look_up_gradient(tokens, weights, gradient);
    require_gradient(table, gradient, [&] { return weighed(look_up(table, tokens), weights); });
  }
}

TEST_CASE("attention does not see what comes later") {
  auto rng = rng_of(2);
  const attention_shape shape{.length = 4, .heads = 2};
  matrix qkv = draw_normal(8, 24, 1, rng);
  const matrix before = attend(shape, qkv).mixed;
  qkv.row(3) *= 7;  // the last position of the first sequence
  const matrix after = attend(shape, qkv).mixed;
  CHECK(before.topRows(3) == after.topRows(3));
  CHECK(before.row(3) != after.row(3));
  CHECK(before.bottomRows(4) == after.bottomRows(4));
}

TEST_CASE("gradients of models") {
  auto rng = rng_of(3);
  const digits_source digits("");
  const auto images = digits.pick(first(6));
  SECTION("lr") {
    auto model = make_lr();
    model.layer.weight = draw_normal(784, 10, 0.05F, rng);
    require_model_gradient(model, images);
  }
  SECTION("lenet") { require_model_gradient(lenet::make_network(rng), images); }
  SECTION("alexnet") { require_model_gradient(make_alexnet(rng), images); }
  SECTION("gpt") {
    const text_source text(6);
    require_model_gradient(make_gpt({.vocabulary = 64, .length = 6, .features = 16, .blocks = 2}, rng),
                           text.pick(first(3)));
  }
  SECTION("mf: the gradient of a row, times its ratings") {
    auto model = make_mf(4, 3, 5, rng);
    const std::vector<rating> seen{{0, 0, 0.5F}, {0, 1, -0.4F}, {1, 1, 0.9F},
                                   {2, 2, 0.3F}, {3, 2, -0.8F}, {3, 0, 0.1F}};
    auto gradient = zeros(model);
    differentiate(model, seen, gradient);
    for (const Index user : {0, 3}) gradient.users.row(user) *= 2;
    gradient.items *= 2;  // each has two
    require_gradient(model, gradient, [&] {
      double sum = 0;
      for (const auto& r : seen)
        sum += static_cast<double>(
                   std::pow(error_of(model, r), 2.0F) +
                   mf_decay * (model.users.row(r.user).squaredNorm() + model.items.row(r.item).squaredNorm())) /
               2;
      return sum;
    });
  }
}

TEST_CASE("optimizers") {
  auto rng = rng_of(4);
  const auto start = make_dense(6, 4, 1, rng), gradient = make_dense(6, 4, 1, rng);
  SECTION("momentum without decay is SGD") {
    auto a = start, b = start;
    const sgd plain{0.1F};
    const momentum heavy{0.1F, 0};
    auto no_state = plain.start(a);
    auto state = heavy.start(b);
    for (int i = 0; i < 3; ++i) plain.update(a, gradient, no_state), heavy.update(b, gradient, state);
    CHECK(a.weight.isApprox(b.weight, 1e-6F));
    CHECK(a.weight.isApprox(start.weight - 0.3F * gradient.weight, 1e-5F));
  }
  SECTION("several steps of momentum") {  // the velocity is -0.1, -0.15 and -0.175 of the gradient
    auto model = start;
    const momentum optimizer{0.1F, 0.5F};
    auto state = optimizer.start(model);
    for (int i = 0; i < 3; ++i) optimizer.update(model, gradient, state);
    CHECK(model.weight.isApprox(start.weight - 0.425F * gradient.weight, 1e-5F));
    CHECK(state.velocity.weight.isApprox(-0.175F * gradient.weight, 1e-5F));
  }
  SECTION("several steps of Adam, as published") {
    auto model = start;
    const adam optimizer{.rate = 0.01F, .beta1 = 0.8F, .beta2 = 0.9F, .epsilon = 1e-3F};
    auto state = optimizer.start(model);
    const float factors[] = {1, -0.5F, 2, 0.1F};
    for (const float factor : factors) {
      auto scaled = gradient;
      for_each_array([&](auto& g) { g *= factor; }, scaled);
      optimizer.update(model, scaled, state);
    }
    matrix expected = start.weight;
    for (Index i = 0; i < expected.size(); ++i) {
      double w = static_cast<double>(start.weight.data()[i]), m = 0, v = 0;
      for (int t = 1; t <= 4; ++t) {
        const double g = static_cast<double>(gradient.weight.data()[i]) * static_cast<double>(factors[t - 1]);
        m = 0.8 * m + 0.2 * g;
        v = 0.9 * v + 0.1 * g * g;
        w -= 0.01 * (m / (1 - std::pow(0.8, t))) / (std::sqrt(v / (1 - std::pow(0.9, t))) + 1e-3);
      }
      expected.data()[i] = static_cast<float>(w);
    }
    CHECK((model.weight - start.weight).isApprox(expected - start.weight, 1e-3F));
    CHECK(state.steps == 4);
  }
}

TEST_CASE("a run goes on from a copy as if it had not stopped") {
  constexpr gpt_shape tiny{64, 6, 16, 2};
  for (const auto& model :
       {setting_of("lr", ""), setting_of("mf", ""), setting_of("lenet", ""), setting_of("alexnet", ""),
        gpt_setting("gpt", tiny, false), gpt_setting("gpt_bf16", tiny, true)}) {
    CAPTURE(model.name);
    const auto run = model.start(7), other = model.start(8);
    for (int i = 0; i < 3; ++i) run->step();
    const auto copy = run->copy();
    other->go_to(copy);
    CHECK(other->loss() == run->loss());
    const auto same = model.start(7);
    same->go_to(copy);
    for (int i = 0; i < 3; ++i) run->step(), same->step();
    CHECK(run->copy().weights == same->copy().weights);
    CHECK(run->copy().slots == same->copy().slots);
    CHECK(run->copy().slots.empty() == !model.has_slots);
  }
}

TEST_CASE("without slots the optimizer starts anew") {
  const auto model = setting_of("lenet", "");
  const auto run = model.start(1);
  for (int i = 0; i < 2; ++i) run->step();
  auto copy = run->copy();
  copy.slots.clear();
  run->go_to(copy);
  for (const auto& slot : run->copy().slots) CHECK(slot.isZero(0));
}

TEST_CASE("a model that diverges") {
  const auto model = setting_of("lenet", "");
  const auto run = model.start(1);
  auto copy = run->copy();
  for (auto& weights : copy.weights) weights *= 1e30F;
  run->go_to(copy);
  REQUIRE_THROWS_WITH(run->step(), Contains("lenet diverges: the loss of iteration 1 is not finite"));
}

TEST_CASE("data that is missing or malformed") {
  CHECK_THROWS_WITH(setting_of("perceptron", ""), Contains("no model is called perceptron"));
  CHECK_THROWS_WITH(digits_source("/nonexistent"),
                    Contains("/nonexistent/train-images-idx3-ubyte.gz: cannot be opened"));
  CHECK_THROWS_WITH(ratings_source("/nonexistent"), Contains("/nonexistent/jester5k.tsv.gz: cannot be opened"));
  CHECK(ratings_source(jester_folder(ratings_text("30\t4\t9.95\n30\t5\t2.2250738585072e-308\n")).path()).users() == 31);
  for (const auto* line :
       {"a\t1\t2\n", "1\t2\n", "1\t2\t11\n", "1\t2\tnan\n", "1\t2\t3\t4\n", "-1\t2\t3\n", "\n", "1 2 3\n"})
    CHECK_THROWS_WITH(ratings_source(jester_folder(ratings_text(line)).path()),
                      Contains("jester5k.tsv.gz: line 1201 is not a user"));
  CHECK_THROWS_WITH(ratings_source(jester_folder("0\t0\t1\n").path()),
                    Contains("has 1 ratings; at least 1000 are needed"));
}

}  // namespace
