// The whole state of a training run as one plain struct, and one step of the training.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "network.hpp"
#include "optimizer.hpp"

namespace lenet {

/// Where the run is in its data: this epoch's order of the images, and the next one to be seen.
struct loader_cursor {
  std::vector<std::uint32_t> order;
  std::uint64_t next{};
  std::uint64_t epoch{};  ///< the one under way, from 1
};

/// Sums over the epoch under way.
struct running_score {
  double loss{};
  std::uint64_t correct{};
};

/// Everything that the next step depends on. This struct is all that Cairn needs to see: it has no macro, no
/// base class and no registration, and a run that starts from a copy of it goes on bit by bit as the first
/// one would have.
template <class Optimizer>
struct trainer_state {
  network model;
  Optimizer optimizer;
  std::mt19937_64 rng;
  loader_cursor cursor;
  running_score score;
  std::uint64_t step{};
};

template <class Optimizer>
[[nodiscard]] trainer_state<Optimizer> start(std::uint64_t seed, std::size_t images) {
  trainer_state<Optimizer> state;
  state.rng.seed(seed);
  state.model = make_network(state.rng);
  state.optimizer = Optimizer::start(state.model);
  state.cursor.order.resize(images);
  std::iota(state.cursor.order.begin(), state.cursor.order.end(), 0U);
  state.cursor.next = images;  // the first step begins an epoch
  return state;
}

struct step_result {
  float loss;       ///< mean of the batch
  bool epoch_ends;  ///< this batch was the last of its epoch
};

/// Sees one batch and learns from it; begins a new epoch in a newly shuffled order where one has ended.
template <class Optimizer>
step_result train_one_step(trainer_state<Optimizer>& state, const dataset& data, std::size_t batch_size) {
  auto& [order, next, epoch] = state.cursor;
  if (next == order.size()) {
    std::shuffle(order.begin(), order.end(), state.rng);
    next = 0;
    ++epoch;
    state.score = {};
  }
  const auto count = std::min<std::size_t>(batch_size, order.size() - next);
  const auto seen = pick(data, std::span(order).subspan(next, count));
  network gradient = zeros(state.model);
  const auto result = backward(state.model, seen, gradient);
  state.optimizer.update(state.model, gradient);
  next += count;
  state.score.loss += static_cast<double>(result.loss) * static_cast<double>(count);
  state.score.correct += result.correct;
  ++state.step;
  return {result.loss, next == order.size()};
}

/// The part of the images that the model names rightly, 0 to 1.
[[nodiscard]] inline double accuracy(const network& model, const dataset& data) {
  std::vector<std::uint32_t> all(data.size());
  std::iota(all.begin(), all.end(), 0U);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < all.size(); i += 100) {
    const auto seen = pick(data, std::span(all).subspan(i, std::min<std::size_t>(100, all.size() - i)));
    correct += cross_entropy(forward(model, seen.images).scores, seen.labels).correct;
  }
  return static_cast<double>(correct) / static_cast<double>(data.size());
}

/// A fingerprint of every bit of the state: equal for two runs only if they are bit-identical. It knows
/// nothing of checkpoints, so that it can judge them.
class fingerprint {
 public:
  void add(const network& net) {
    for_each_parameter([&](const auto& p) { add(p.data(), static_cast<std::size_t>(p.size()) * sizeof(float)); }, net);
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
  void add(const loader_cursor& cursor) {
    add(cursor.order.data(), cursor.order.size() * sizeof(std::uint32_t));
    add(cursor.next);
    add(cursor.epoch);
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
    print.add(state.cursor);
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
  void add(const void* bytes, std::size_t count) { hash_ = XXH3_64bits_withSeed(bytes, count, hash_); }

  XXH64_hash_t hash_ = 0;
};

}  // namespace lenet
