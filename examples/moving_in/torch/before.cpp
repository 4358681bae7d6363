// SPDX-License-Identifier: MIT
// A trainer that saves its state with torch::save.
#include "archive.hpp"

int main(int argc, char** argv) {
  const auto steps = set_up(argc, argv);
  // [before]
  trainer all;
  if (std::filesystem::exists("rest.pt")) read_files(all);
  while (all.step < steps) {
    train_one_step(all);
    if (all.step % 10 == 0) write_files(all);
  }
  write_files(all);
  // [before]
  print(all);
}
