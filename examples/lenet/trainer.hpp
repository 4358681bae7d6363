// SPDX-License-Identifier: MIT
// The whole state of a training run as one plain struct, and one step of the training.
#pragma once

#define XXH_INLINE_ALL
#include <cairn/loop.hpp>
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>

#include "dataset.hpp"
#include "network.hpp"
#include "optimizer.hpp"

namespace lenet {

/// Sums over the current epoch; at the end of an epoch, over that epoch until the next
/// one begins.
struct running_score {
  double loss{};
  std::uint64_t correct{};
};

/// All that the next step depends on. Cairn needs no macro, base class or registration.
/// A run that starts from a copy of this struct continues bit for bit like the first
/// run.
// [state]
template <class Optimizer>
struct trainer_state {
  network model;
  Optimizer optimizer;
  std::mt19937_64 rng;
  cairn::loop data;  ///< the order of the images, and the position in it
  running_score score;
  std::uint64_t step{};
  // [state]
};

template <class Optimizer>
[[nodiscard]] trainer_state<Optimizer> start(std::size_t images,
                                             const cairn::loop_options& how) {
  trainer_state<Optimizer> state;
  state.rng.seed(how.seed);
  state.model = make_network(state.rng);
  state.optimizer = Optimizer::start(state.model);
  state.data = cairn::loop(images, how);
  return state;
}

template <class Rng>
void add_noise(batch& seen, Rng& rng) {
  std::uniform_real_distribution<float> noise(-0.1F, 0.1F);
  for (auto& grey : seen.images.reshaped()) grey += noise(rng);
}

/// Changes the weights by the gradient of the mean loss of a batch, and adds the batch
/// to the score. Completes the step.
template <class Optimizer>
void learn(trainer_state<Optimizer>& state, const cairn::batch& from,
           const network& gradient, double mean_loss, std::uint64_t correct) {
  if (from.first == 0) state.score = {};
  state.optimizer.update(state.model, gradient);
  state.score.loss += mean_loss * static_cast<double>(from.items.size());
  state.score.correct += correct;
  ++state.step;
}

/// Trains on one batch, to which it adds noise, and returns the mean loss of the batch.
template <class Optimizer>
float train_one_step(trainer_state<Optimizer>& state, const dataset& images,
                     const cairn::batch& next) {
  auto seen = pick(images, next.items);
  add_noise(seen, state.rng);
  network gradient = zeros(state.model);
  const auto result = backward(state.model, seen, gradient);
  learn(state, next, gradient, static_cast<double>(result.loss), result.correct);
  return result.loss;
}

/// How many of the images `which` the model classifies correctly.
[[nodiscard]] inline std::size_t count_correct(const network& model,
                                               const dataset& images,
                                               std::span<const std::uint64_t> which) {
  const auto seen = pick(images, which);
  return cross_entropy(forward(model, seen.images).scores, seen.labels).correct;
}

/// The part of the images that the model classifies correctly, 0 to 1; nothing if
/// `leave()` becomes true before the end.
template <class Leave>
[[nodiscard]] std::optional<double> accuracy(const network& model,
                                             const dataset& images,
                                             const Leave& leave) {
  std::size_t correct = 0;
  for (const cairn::batch& part :
       cairn::loop(images.size(), {.batch = 100, .shuffle = false})) {
    if (leave()) return std::nullopt;
    correct += count_correct(model, images, part.items);
  }
  return static_cast<double>(correct) / static_cast<double>(images.size());
}

/// A hash of every bit of the state, to compare runs. It does not use Cairn's
/// description of the state, so that it can check it.
class fingerprint {
 public:
  void add(const network& net) {
    for_each_parameter(
        [&](const auto& p) {
          add(p.data(), static_cast<std::size_t>(p.size()) * sizeof(float));
        },
        net);
  }
  void add(const sgd<network>& optimizer) { add(optimizer.velocity); }
  void add(const adam<network>& optimizer) {
    add(optimizer.first_moment);
    add(optimizer.second_moment);
    add(optimizer.steps);
  }
  void add(const std::mt19937_64& rng) {
    std::ostringstream text;
    text << rng;
    add(text.view().data(), text.view().size());
  }
  void add(const cairn::loop& data) {
    add(data.items());
    add(data.epoch());
    add(data.position());
  }
  void add(const running_score& score) {
    add(std::bit_cast<std::uint64_t>(score.loss));
    add(score.correct);
  }
  void add(std::uint64_t number) { add(&number, sizeof number); }

  template <class Optimizer>
  [[nodiscard]] static std::string of(const trainer_state<Optimizer>& state) {
    fingerprint print;
    print.add(state.model);
    print.add(state.optimizer);
    print.add(state.rng);
    print.add(state.data);
    print.add(state.score);
    print.add(state.step);
    std::ostringstream hex;
    hex << std::hex;
    hex.fill('0');
    hex.width(16);
    hex << print.hash_;
    return hex.str();
  }

 private:
  void add(const void* bytes, std::size_t count) {
    hash_ = XXH3_64bits_withSeed(bytes, count, hash_);
  }

  XXH64_hash_t hash_ = 0;
};

}  // namespace lenet
