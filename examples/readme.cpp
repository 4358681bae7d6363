// SPDX-License-Identifier: MIT
// The first example of README.md, with a function that does not train. Laid out as there, and not by clang-format.
// clang-format off
// [state]
#include <cairn/cairn.hpp>
#include <random>
#include <vector>

struct trainer_state { std::vector<float> weights; std::mt19937_64 rng; cairn::loop data; std::uint64_t step{}; };
// [state]

#include <csignal>
#include <cstdint>
#include <span>

double train_one_step(trainer_state& state, std::span<const std::uint64_t> items) {
  ++state.step;
  return 1 / static_cast<double>(items.size());
}

void train(const std::vector<char>& images) {
  // [training]
  trainer_state state;
  std::optional<double> loss;
  state.data = cairn::loop(images, {.batch = 64, .epochs = 10});  // restore throws if the images are others
  cairn::checkpointer ckpt{"runs/lenet", {.keep_last = 3, .preempt = {SIGTERM, SIGUSR1}}};
  ckpt.restore(state);                                // loads the newest valid checkpoint; does nothing on the first run
  for (const cairn::batch& batch : state.data) {      // continues with the images that come next
    loss = train_one_step(state, batch.items);         // your function; it also increments state.step
    // Copies the state if a save is due; a thread writes it. Throws when saves have failed for a minute (disk full).
    if (ckpt.step(state, {.step = state.step, .loss = loss}).stop) return;  // a signal came, and the state is saved
  }
  ckpt.save(state, {.step = state.step, .loss = loss});  // saves the final state and waits until it is on disk
  // [training]
}

int main() { train(std::vector<char>(1000)); }
