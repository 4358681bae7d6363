// SPDX-License-Identifier: MIT
// The steps of the trainer, on one core.
#include "stall/trainer.hpp"

#include <random>
#include <string>
#include <string_view>
#include <thread>

namespace bench {
namespace {

/// splitmix64: fast, and good enough for mantissas that do not compress.
struct generator {
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state;
};

void fill_one(std::string_view path, std::uint64_t seed, std::vector<float>& values) {
  const bool is_weight = path.starts_with("weights");
  const bool is_square = path.starts_with("second_moment");
  generator random{seed << 40};
  std::normal_distribution<float> normal(0, is_weight ? 0.02F : 1e-4F);
  for (auto& value : values) {
    value = normal(random);
    if (is_square) value *= value;
  }
}

/// Up in even steps and down in odd ones, so that values stay what they are.
float factor_of(std::uint64_t step) { return step % 2 == 0 ? 1 + 0x1p-10F : 1 / (1 + 0x1p-10F); }

/// Some arithmetic.
float polynomial_at(float value) {
  float sum = value;
  for (int term = 0; term < 6; ++term) sum = sum * value + 0.5F;
  return sum;
}

template <class Change>
void change_all(training_state& state, Change change) {
  for_each_tensor(state, [&](const std::string&, tensor& t) {
    for (auto& value : t.values) value = change(value);
  });
  ++state.step;
}

}  // namespace

training_state trained_state(std::size_t mib) {
  auto state = make_state(dimensions::of(mib));
  const auto fill_every_second = [&](std::uint64_t first) {
    std::uint64_t index = 0;
    for_each_tensor(state, [&](const std::string& path, tensor& t) {
      if (index++ % 2 == first) fill_one(path, index, t.values);
    });
  };
  std::thread other(fill_every_second, 1);
  fill_every_second(0);
  other.join();
  return state;
}

void rewrite(training_state& state, std::uint64_t step) {
  change_all(state, [factor = factor_of(step)](float value) { return value * factor; });
}

void compute_and_rewrite(training_state& state, std::uint64_t step) {
  change_all(state,
             [factor = factor_of(step)](float value) { return value * (factor + 1e-9F * polynomial_at(value)); });
}

void compute_and_wander(training_state& state, std::uint64_t step) {
  change_all(state, [random = generator{step << 40U}](float value) mutable {
    const float factor = 1 + 0x1p-41F * static_cast<float>(static_cast<std::int32_t>(random() >> 32U));
    return value * (factor + 1e-9F * polynomial_at(value));
  });
}

std::vector<std::span<const float>> arrays_of(const training_state& state) {
  std::vector<std::span<const float>> arrays;
  for_each_tensor(state, [&](const std::string&, const tensor& t) { arrays.emplace_back(t.values); });
  return arrays;
}

}  // namespace bench
