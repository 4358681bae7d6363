// SPDX-License-Identifier: MIT
// The example of README.md: a random walk that can be stopped and killed at any time.
// [all]
#include <cairn/cairn.hpp>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>
#include <vector>

struct trainer {  // a plain struct: Cairn finds its fields
  std::vector<float> weights = std::vector<float>(1000);
  std::mt19937_64 rng{1};
  std::uint64_t step = 0;
};

float train_one_step(trainer& t) {
  for (float& w : t.weights) w += std::normal_distribution<float>()(t.rng);
  ++t.step;
  return std::abs(t.weights[0]);
}

int main() {
  trainer t;
  cairn::checkpointer ckpt{"runs/walk", {.keep_last = 3, .preempt = {SIGTERM}}};
  // The newest valid checkpoint, if any.
  if (ckpt.restore(t)) std::cout << "resumed at step " << t.step << '\n';
  std::optional<float> loss;
  while (t.step < 50'000) {
    loss = train_one_step(t);
    // Saves in the background when a save is due. `stop`: SIGTERM came; all is saved.
    // Throws when saves have failed for a minute, as on a full disk.
    if (ckpt.step(t, {.step = t.step, .loss = loss}).stop) return 0;
  }
  ckpt.save(t, {.step = t.step, .loss = loss});  // the final state, on disk
  cairn::save("walked", t);                      // or without a run: saved once,
  cairn::load("walked", t);                      // and loaded
  std::cout << t.weights[0] << '\n';
}
// [all]
