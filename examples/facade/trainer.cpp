// SPDX-License-Identifier: MIT
// A trainer in C++17 whose weights belong to code in C. It is stopped, and goes on bit
// by bit.
#include "saver.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>

#if __cplusplus >= 202002L
#error "this example shows a trainer that is not C++20"
#endif

namespace {

struct network {  // as a library in C declares it
  float* weights;
  std::size_t size;
};

network make_network() {
  return {static_cast<float*>(std::calloc(1000, sizeof(float))), 1000};
}

double train(std::uint64_t steps) {
  network net = make_network();
  std::mt19937 rng(1);
  std::uint64_t step = 0;
  saver saves("runs/facade", rng, step);
  saves.array("weights", net.weights, net.size);
  if (saves.restore()) std::printf("resumed at step %d\n", static_cast<int>(step));
  while (step < steps) {
    net.weights[rng() % net.size] += 1;
    ++step;
    if (saves.step()) break;
  }
  saves.save();
  double sum = 0;
  for (std::size_t i = 0; i < net.size; ++i)
    sum += net.weights[i] * static_cast<double>(i);
  std::free(net.weights);
  return sum;
}

}  // namespace

int main() {
  try {
    train(500);
    const double resumed = train(1000);
    std::mt19937 rng(1);
    double whole = 0;
    for (int i = 0; i < 1000; ++i) whole += static_cast<double>(rng() % 1000);
    std::printf("1000 steps, stopped after 500: %s\n",
                resumed == whole ? "the same" : "different");
    return resumed == whole ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "facade: %s\n", failure.what());
    return 1;
  }
}
