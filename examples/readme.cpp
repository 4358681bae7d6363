// SPDX-License-Identifier: MIT
// The example of README.md: a random walk that can be stopped and killed at any time.
// [all]
#include <cairn/cairn.hpp>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

struct trainer {  // a plain struct: Cairn finds its fields
  std::vector<float> weights = std::vector<float>(1000);
  std::mt19937_64 rng{1};
  std::uint64_t step = 0;
};

void train_one_step(trainer& t) {
  for (float& w : t.weights) w += std::normal_distribution<float>()(t.rng);
  ++t.step;
}

int main() {
  trainer t;
  cairn::checkpointer ckpt{"runs/walk", {.keep_last = 3, .preempt = {SIGTERM}}};
  if (ckpt.restore(t))  // the newest valid checkpoint; nothing on the first run
    std::cout << "resumed at step " << t.step << '\n';
  while (t.step < 50'000) {
    train_one_step(t);
    // Saves in the background when a save is due. `stop`: SIGTERM came; all is saved.
    if (ckpt.step(t, {.step = t.step}).stop) return 0;
  }
  ckpt.save(t, {.step = t.step});  // the final state; returns when it is on disk
  cairn::save("walked", t);        // or without a run: one checkpoint, saved once,
  cairn::load("walked", t);        // and loaded
  std::cout << t.weights[0] << '\n';
}
// [all]
