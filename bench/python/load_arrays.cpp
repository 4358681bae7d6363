// Loads all arrays of a checkpoint into new memory, one after the other, as cairn.load_dict of Python does: once per line of standard input. Prints the
// seconds of each.
#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cairn/inspect.hpp"

int main(int argc, char** argv) {
  try {
    for (std::string line; argc == 2 && std::getline(std::cin, line);) {
      const auto began = std::chrono::steady_clock::now();
      std::vector<std::unique_ptr<std::byte[]>> arrays;
      const auto from = cairn::open(argv[1]);
      for (const auto& each : from.tensors()) {
        auto& memory = arrays.emplace_back(std::make_unique_for_overwrite<std::byte[]>(each.bytes));
        from.read(each.name, std::span(memory.get(), each.bytes));
      }
      arrays.clear();
      std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() << std::endl;
    }
  } catch (const std::exception& fault) {
    std::cerr << "load_arrays: " << fault.what() << '\n';
    return 1;
  }
}
