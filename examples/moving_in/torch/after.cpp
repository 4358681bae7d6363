// SPDX-License-Identifier: MIT
// The same trainer with Cairn. It reads the files of the old program once.
#include "archive.hpp"

#include <cairn/adapters/torch.hpp>
#include <cairn/cairn.hpp>
#include <csignal>
#include <optional>

// [old]
/// True if there are files of the old program.
bool read_old(trainer& all) {
  if (!std::filesystem::exists("rest.pt")) return false;
  read_files(all);
  return true;
}
// [old]

int main(int argc, char** argv) {
  const auto steps = set_up(argc, argv);
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
