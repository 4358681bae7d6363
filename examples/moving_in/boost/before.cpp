// SPDX-License-Identifier: MIT
// A trainer that saves its state with Boost.Serialization.
#include <cstdio>
#include <fstream>

#include "archive.hpp"

void save_file(const trainer& all) {
  {
    std::ofstream file("state.boost.new", std::ios::binary);
    boost::archive::binary_oarchive archive(file);
    archive & all;
  }
  std::rename("state.boost.new", "state.boost");
}

int main(int argc, char** argv) {
  const auto steps = steps_of(argc, argv);
  // [before]
  trainer all;
  if (std::ifstream file("state.boost", std::ios::binary); file) {
    boost::archive::binary_iarchive archive(file);
    archive & all;
  }
  while (all.step < steps) {
    train_one_step(all);
    if (all.step % 10 == 0) save_file(all);
  }
  save_file(all);
  // [before]
  print(all);
}
