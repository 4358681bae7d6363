// SPDX-License-Identifier: MIT
#define XXH_INLINE_ALL
#include "study/trainer.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <thread>

namespace bench::study {
namespace {

using lenet::Index;
using lenet::matrix;
using lenet::network;

constexpr float rate = 0.001F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F, momentum_of_statistics = 0.1F;
constexpr float first_scale = 0x1p20F, largest_half = 65504, smallest_half = 0x1p-24F;
constexpr std::uint64_t steps_until_growth = 100, warm_up = 50;

/// The next images, in an order that is shuffled for each epoch.
std::span<const std::uint32_t> next_batch(study_state& state, std::size_t count) {
  if (state.data_position + count > state.order.size()) {
    std::shuffle(state.order.begin(), state.order.end(), state.rng);
    state.data_position = 0;
  }
  const auto batch = std::span(state.order).subspan(state.data_position, count);
  state.data_position += count;
  return batch;
}

lenet::batch take(const lenet::dataset& images, std::span<const std::uint32_t> which) {
  lenet::batch taken{matrix(static_cast<Index>(which.size()), static_cast<Index>(lenet::image_pixels)), {}};
  float* out = taken.images.data();
  for (const std::size_t place : which) {
    const auto image = std::span(images.pixels).subspan(place * lenet::image_pixels, lenet::image_pixels);
    out = std::transform(image.begin(), image.end(), out, [](auto grey) { return static_cast<float>(grey) / 255; });
    taken.labels.push_back(images.labels[place]);
  }
  return taken;
}

void add_noise(matrix& images, std::mt19937_64& rng) {
  std::uniform_real_distribution<float> noise(-0.05F, 0.05F);
  for (auto& grey : images.reshaped()) grey += noise(rng);
}

void normalize(matrix& images, const pixel_statistics& by) {
  images.array() = (images.array() - by.mean) / std::sqrt(by.variance + 1e-5F);
}

/// Normalizes the batch by its own statistics, and moves the running ones towards these.
void normalize_and_record(matrix& images, pixel_statistics& running) {
  const float mean = images.mean(), variance = (images.array() - mean).square().mean();
  normalize(images, {mean, variance});
  running.mean += momentum_of_statistics * (mean - running.mean);
  running.variance += momentum_of_statistics * (variance - running.variance);
}

/// The gradients of the mean loss of the whole batch by each of its parts.
std::vector<network> gradients_of_parts(const network& model, const lenet::batch& all, const gradient_order& sum) {
  const auto size = all.labels.size();
  std::vector<network> gradients(sum.parts, zeros(model));
  const auto compute = [&](unsigned part) {
    const auto first = size * part / sum.parts, last = size * (part + 1) / sum.parts;
    if (first == last) return;
    const auto rows = static_cast<Index>(last - first);
    const lenet::batch seen{all.images.middleRows(static_cast<Index>(first), rows),
                            {all.labels.begin() + static_cast<std::ptrdiff_t>(first),
                             all.labels.begin() + static_cast<std::ptrdiff_t>(last)}};
    backward(model, seen, gradients[part]);
    const float share = static_cast<float>(rows) / static_cast<float>(size);
    for_each_parameter([&](auto& g) { g *= share; }, gradients[part]);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < sum.threads; ++t)
    threads.emplace_back([&, t] {
      for (unsigned part = t; part < sum.parts; part += sum.threads) compute(part);
    });
  for (auto& each : threads) each.join();
  return gradients;
}

network gradient_of(const network& model, const lenet::batch& all, const gradient_order& sum) {
  auto parts = gradients_of_parts(model, all, sum);
  if (sum.is_reversed) std::reverse(parts.begin(), parts.end());
  for (std::size_t i = 1; i < parts.size(); ++i)
    for_each_parameter([](auto& to, const auto& from) { to += from; }, parts.front(), parts[i]);
  return std::move(parts.front());
}

/// Rounded to the nearest fp16 number, subnormal ones included.
float to_half(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const float unit = std::max(std::ldexp(1.0F, exponent - 11), smallest_half);
  return std::nearbyint(value / unit) * unit;
}

/// What a backward pass in fp16 gives: the gradient, scaled, rounded, and scaled back. False where a number is too
/// large for fp16.
bool round_scaled(network& gradient, float scale) {
  bool is_finite = true;
  for_each_parameter(
      [&](auto& g) {
        for (auto& value : g.reshaped()) {
          const float half = to_half(value * scale);
          is_finite = is_finite && std::abs(half) <= largest_half;
          value = half / scale;
        }
      },
      gradient);
  return is_finite;
}

/// Halves the scale after an overflow, and doubles it after some steps without one.
void adapt_scale(study_state& state, bool is_finite) {
  ++state.steps_of_scale;
  if (is_finite && state.steps_of_scale < steps_until_growth) return;
  state.loss_scale *= is_finite ? 2.0F : 0.5F;
  state.steps_of_scale = 0;
}

/// A linear warm-up, then half a cosine down to 0.
float scheduled_rate(std::uint64_t position, std::uint64_t steps) {
  if (position < warm_up) return rate * static_cast<float>(position + 1) / static_cast<float>(warm_up);
  const float done = static_cast<float>(position) / static_cast<float>(steps);
  return rate * (1 + std::cos(std::numbers::pi_v<float> * std::min(done, 1.0F))) / 2;
}

/// Kingma and Ba, "Adam" (2015), algorithm 1.
void update(study_state& state, const network& gradient, float learning_rate) {
  const auto t = static_cast<float>(++state.adam_step);
  const float bias1 = 1 - std::pow(beta1, t), bias2 = 1 - std::pow(beta2, t);
  for_each_parameter(
      [=](auto& w, const auto& g, auto& m, auto& v) {
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g.cwiseAbs2();
        w.array() -= learning_rate * (m.array() / bias1) / ((v.array() / bias2).sqrt() + epsilon);
      },
      state.weights, gradient, state.first_moment, state.second_moment);
}

class hash {
 public:
  void add(const void* bytes, std::size_t count) { value_ = XXH3_64bits_withSeed(bytes, count, value_); }
  template <class Number>
  void add(const Number& number) {
    add(&number, sizeof number);
  }
  void add(const network& net) {
    for_each_parameter([&](const auto& p) { add(p.data(), static_cast<std::size_t>(p.size()) * sizeof(float)); }, net);
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  XXH64_hash_t value_ = 0;
};

}  // namespace

study_state start_training(const lenet::dataset& images, const trainer_options& how) {
  study_state state;
  state.rng.seed(how.seed);
  state.weights = lenet::make_network(state.rng);
  state.first_moment = state.second_moment = zeros(state.weights);
  state.order.resize(images.size());
  std::iota(state.order.begin(), state.order.end(), 0U);
  std::shuffle(state.order.begin(), state.order.end(), state.rng);
  state.loss_scale = first_scale;
  return state;
}

void train_step(study_state& state, const lenet::dataset& images, const trainer_options& how,
                const gradient_order& sum) {
  auto seen = take(images, next_batch(state, std::min(how.batch, images.size())));
  add_noise(seen.images, state.rng);
  normalize_and_record(seen.images, state.buffers);
  auto gradient = gradient_of(state.weights, seen, sum);
  const bool is_finite = round_scaled(gradient, state.loss_scale);
  if (is_finite) update(state, gradient, scheduled_rate(state.schedule_position, how.steps));
  adapt_scale(state, is_finite);
  ++state.schedule_position;
  ++state.step;
}

double accuracy(const study_state& state, const lenet::dataset& images) {
  std::size_t correct = 0;
  std::vector<std::uint32_t> all(images.size());
  std::iota(all.begin(), all.end(), 0U);
  for (std::size_t first = 0; first < all.size(); first += 100) {
    auto seen = take(images, std::span(all).subspan(first, std::min<std::size_t>(100, all.size() - first)));
    normalize(seen.images, state.buffers);
    correct += lenet::cross_entropy(forward(state.weights, seen.images).scores, seen.labels).correct;
  }
  return static_cast<double>(correct) / static_cast<double>(images.size());
}

state_hashes hashes_of(const study_state& state) {
  hash all;
  all.add(state.weights);
  const auto weights = all.value();
  all.add(state.first_moment);
  all.add(state.second_moment);
  std::ostringstream rng;
  rng << state.rng;
  all.add(rng.view().data(), rng.view().size());
  all.add(state.order.data(), state.order.size() * sizeof(std::uint32_t));
  all.add(state.buffers.mean);
  all.add(state.buffers.variance);
  all.add(state.loss_scale);
  for (const auto number :
       {state.adam_step, state.data_position, state.steps_of_scale, state.schedule_position, state.step})
    all.add(number);
  return {weights, all.value()};
}

}  // namespace bench::study
