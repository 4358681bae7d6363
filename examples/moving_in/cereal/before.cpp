// SPDX-License-Identifier: MIT
// A trainer that saves its state with cereal.
#include <cstdio>
#include <fstream>

#include "archive.hpp"

void save_file(const trainer& all) {
  {
    std::ofstream file("state.cereal.new", std::ios::binary);
    cereal::BinaryOutputArchive archive(file);
    archive(all);
  }
  std::rename("state.cereal.new", "state.cereal");
}

int main(int argc, char** argv) {
  const auto steps = steps_of(argc, argv);
  // [before]
  trainer all;
  if (std::ifstream file("state.cereal", std::ios::binary); file) {
    cereal::BinaryInputArchive archive(file);
    archive(all);
  }
  while (all.step < steps) {
    train_one_step(all);
    if (all.step % 10 == 0) save_file(all);
  }
  save_file(all);
  // [before]
  print(all);
}
