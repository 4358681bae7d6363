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
  const bool same = loaded.weights == saved.weights && loaded.name == saved.name && loaded.step == saved.step;
  std::puts(same ? "cairn " CAIRN_VERSION ": saved and loaded" : "the loaded state differs from the saved one");
  return same ? 0 : 1;
}
