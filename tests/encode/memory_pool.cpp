// SPDX-License-Identifier: MIT
#include "cairn/encode/memory_pool.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include "cairn/system/parallel.hpp"
#include "catch.hpp"

TEST_CASE("no two threads have the same memory, and what is given back is used again") {
  struct memory {
    std::unique_ptr<std::atomic<bool>> taken = std::make_unique<std::atomic<bool>>(false);
  };
  cairn::detail::memory_pool<memory> pool;
  std::atomic<int> made{0}, shared{0};
  const auto make = [&] {
    ++made;
    return memory();
  };
  cairn::detail::parallel_for(2000, 4, [&](std::size_t, unsigned) {
    shared += pool.with_memory(make, [](const memory& mine) {
      const bool was_taken = mine.taken->exchange(true);
      mine.taken->store(false);
      return was_taken;
    });
  });
  CHECK(shared == 0);
  CHECK(made >= 1);
  CHECK(made <= 4);
}
