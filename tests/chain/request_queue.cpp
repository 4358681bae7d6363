// SPDX-License-Identifier: MIT
#include "cairn/chain/shared_reads.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"

using cairn::detail::read_request;

TEST_CASE("a queue hands out all elements in order, and cuts arrays between blocks") {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<read_request> requests;
    std::vector<std::vector<std::byte>> memory;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < random() % 6; ++i) {
      const std::uint64_t count = random() % 4 == 0 ? random() % 3 : random() % 700'000;
      memory.emplace_back(2 * count);
      requests.push_back({i, {cairn::dtype::f16, {count}, memory.back().data(), {}}});
      total += 2 * count;
    }
    cairn::detail::request_queue queue(requests);
    std::size_t leaf = 0;
    std::uint64_t first = 0, left = total;
    while (queue.left() > 0) {
      CHECK(queue.left() == left);
      const std::uint64_t wanted = random() % 600'000 + 1;
      std::uint64_t sum = 0;
      for (const auto& each : queue.take(wanted)) {
        if (each.into.bytes() == 0) continue;
        while (requests[leaf].into.count() == first) ++leaf, first = 0;
        REQUIRE(each.leaf == leaf);
        CHECK(each.first.value_or(0) == first);
        CHECK(each.into.memory == memory[leaf].data() + 2 * first);
        CHECK(each.is_whole() == (each.into.count() == requests[leaf].into.count()));
        CHECK((first + each.into.count() == requests[leaf].into.count() || (first + each.into.count()) % 131'072 == 0));
        first += each.into.count();
        sum += each.into.bytes();
      }
      CHECK(sum >= std::min(wanted, left));
      CHECK(sum < wanted + 2 * 131'072);
      left -= sum;
    }
    CHECK(left == 0);
  }
}
