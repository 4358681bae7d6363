// SPDX-License-Identifier: MIT
// The same trainer with Cairn. It reads the file of the old program once.
#include <cairn/cairn.hpp>
#include <csignal>
#include <fstream>
#include <optional>

#include "archive.hpp"

// [old]
/// True if there is a file of the old program.
bool read_old(trainer& all) {
  std::ifstream file("state.bin", std::ios::binary);
  if (!file) return false;
  read_state(file, all);
  return true;
}
// [old]

int main(int argc, char** argv) {
  const auto steps = steps_of(argc, argv);
  // [after]
  trainer all;
  cairn::checkpointer checkpoints(
      "run", {.when = cairn::policies::every_steps{10}, .preempt = {SIGTERM}});
  if (!checkpoints.restore(all) && read_old(all))
    checkpoints.save(all, {.step = all.step});
  std::optional<double> loss;
  while (all.step < steps) {
    loss = train_one_step(all);
    if (checkpoints.step(all, {.step = all.step, .loss = loss}).stop) return 0;
  }
  checkpoints.save(all, {.step = all.step, .loss = loss});
  // [after]
  print(all);
}
