// SPDX-License-Identifier: MIT
// Fits a line to noisy points. Stop or kill it at any time and start it again: the
// result is the same as without an interruption.
// [all]
#include <cairn/cairn.hpp>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>
#include <string>

constexpr std::uint64_t points = 1000;

struct trainer_state {  // all that the next step depends on
  double slope = 0, offset = 0;
  std::mt19937_64 rng{1};
  cairn::loop data{points, {.batch = 10, .epochs = 50, .data = 1}};  // data set 1
  std::uint64_t step = 0;
};

double train_one_step(trainer_state& state, const cairn::batch& batch) {
  double sum = 0;
  for (const auto point : batch.items) {
    const double x = 2.0 * static_cast<double>(point) / points - 1;
    const double y = 3 * x + 2 + std::normal_distribution<>(0, 0.1)(state.rng);
    const double error = state.slope * x + state.offset - y;
    state.slope -= 0.01 * error * x;
    state.offset -= 0.01 * error;
    sum += error * error;
  }
  ++state.step;
  return sum / static_cast<double>(batch.items.size());
}

int main(int argc, char** argv) {
  trainer_state state;
  if (argc > 2) {
    const auto epochs = std::stoull(argv[2]);
    state.data = cairn::loop(points, {.batch = 10, .epochs = epochs, .data = 1});
  }
  cairn::checkpointer ckpt{argc > 1 ? argv[1] : "runs/quickstart",
                           {.keep_last = 3,
                            .when = cairn::policies::every_steps{100},
                            .preempt = {SIGTERM, SIGUSR1}}};
  if (ckpt.restore(state)) std::cout << "resumed at step " << state.step << '\n';
  std::optional<double> loss;
  for (const cairn::batch& batch : state.data) {
    loss = train_one_step(state, batch);
    // Every 100th step copies the state and returns; a thread writes the copy.
    // `stop`: a signal came, and the state is saved.
    if (ckpt.step(state, {.step = state.step, .loss = loss}).stop) return 0;
  }
  ckpt.save(state, {.step = state.step, .loss = loss});  // returns when it is on disk
  std::cout << "step " << state.step << ": y = " << state.slope << " x + "
            << state.offset << '\n';
}
// [all]
