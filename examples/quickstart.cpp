// Fits a line. Kill it at any moment and start it again: it goes on as if nothing had happened.
#include <cairn/cairn.hpp>
#include <cstdint>
#include <iostream>
#include <random>

struct trainer_state {  // everything that the next step depends on: Cairn finds the fields and their names
  double slope = 0, offset = 0;
  std::mt19937_64 rng{1};
  std::uint64_t step = 0;
};

double train_one_step(trainer_state& state) {
  const double x = std::uniform_real_distribution<>(-1, 1)(state.rng);
  const double error = state.slope * x + state.offset - (3 * x + 2);
  state.slope -= 0.01 * error * x;
  state.offset -= 0.01 * error;
  ++state.step;
  return error * error;
}

int main(int argc, char** argv) {
  trainer_state state;
  cairn::checkpointer ckpt{argc > 1 ? argv[1] : "runs/quickstart",
                           {.keep_last = 3, .when = cairn::policies::every_steps{100}}};
  if (ckpt.restore(state)) std::cout << "resumed at step " << state.step << '\n';
  while (state.step < 5000) {
    const double loss = train_one_step(state);
    ckpt.step(state, {.step = state.step, .loss = loss});  // saves at every 100th step
  }
  ckpt.wait();
  std::cout << "y = " << state.slope << " x + " << state.offset << '\n';
}
