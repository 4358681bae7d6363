// SPDX-License-Identifier: MIT
// Loads all arrays of a checkpoint into new memory, one after the other, as cairn.load_dict of Python does: once per
// line of standard input. Prints the seconds of each.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "cairn/inspect.hpp"

namespace {

struct freed {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

/// As numpy allocates arrays: in huge pages from 4 MiB on.
std::unique_ptr<void, freed> new_array(std::size_t bytes) {
  std::unique_ptr<void, freed> made(std::malloc(bytes > 0 ? bytes : 1));
  if (!made) throw std::bad_alloc();
  constexpr std::size_t page = 4096, least = std::size_t{1} << 22U;
  if (bytes >= least) {
    const auto at = reinterpret_cast<std::uintptr_t>(made.get()), first = (at + page - 1) / page * page;
    static_cast<void>(::madvise(reinterpret_cast<void*>(first), bytes - (first - at), MADV_HUGEPAGE));
  }
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (std::string line; argc == 2 && std::getline(std::cin, line);) {
      const auto began = std::chrono::steady_clock::now();
      std::vector<std::unique_ptr<void, freed>> arrays;
      const auto from = cairn::open(argv[1]);
      for (const auto& each : from.tensors()) {
        const auto& memory = arrays.emplace_back(new_array(each.bytes));
        from.read(each.name, std::span(static_cast<std::byte*>(memory.get()), each.bytes));
      }
      arrays.clear();
      std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() << std::endl;
    }
  } catch (const std::exception& fault) {
    std::cerr << "load_arrays: " << fault.what() << '\n';
    return 1;
  }
}
