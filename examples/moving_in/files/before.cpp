// SPDX-License-Identifier: MIT
// A trainer that writes its state to a file by hand.
#include <fstream>

#include "archive.hpp"

void save_file(const trainer& all) {
  std::ofstream file("state.bin", std::ios::binary);
  write_state(file, all);
}

int main(int argc, char** argv) {
  const auto steps = steps_of(argc, argv);
  // [before]
  trainer all;
  if (std::ifstream file("state.bin", std::ios::binary); file) read_state(file, all);
  while (all.step < steps) {
    train_one_step(all);
    if (all.step % 10 == 0) save_file(all);
  }
  save_file(all);
  // [before]
  print(all);
}
