// SPDX-License-Identifier: MIT
// A first program: saves a struct, loads it into a new one, compares.
#include <cairn/cairn.hpp>

#include <cstdio>

#include "training.hpp"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "checkpoint";
  const training saved{{1.5F, -2.0F, 3.25F}, "consumer", 42};
  cairn::save(folder, saved);
  training loaded;
  cairn::load(folder, loaded);

  struct local_state {  // g++ without optimisation once left a reference to an object that no unit defines
    int step = 0;
  } local{7};
  cairn::save(folder + "_local", local);
  cairn::load(folder + "_local", local);

  const bool same =
      loaded.weights == saved.weights && loaded.name == saved.name && loaded.step == saved.step && local.step == 7;
  std::puts(same ? "cairn " CAIRN_VERSION ": saved and loaded" : "the loaded state differs from the saved one");
  return same ? 0 : 1;
}
