// SPDX-License-Identifier: MIT
#include "cairn/state/describer.hpp"

#include <cstddef>
#include <vector>

#include "catch.hpp"

TEST_CASE("array_index gives each memory the first leaf, and keeps memories of devices apart") {
  using cairn::detail::memory_key;
  const std::vector<int> memory(100);
  const cairn::device_copies device{};
  cairn::detail::array_index index;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    CHECK(index.find_or_add({&memory[i], nullptr}, 2 * i) == 2 * i);
    CHECK(index.find_or_add({&memory[i], &device}, 2 * i + 1) == 2 * i + 1);
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    CHECK(index.find_or_add({&memory[i], nullptr}, 1000) == 2 * i);
    CHECK(index.find_or_add({&memory[i], &device}, 1000) == 2 * i + 1);
  }
}
