// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/elements.hpp"

#include <vector>

#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail::lc;

TEST_CASE("lc/elements: 16-bit elements come back from floats; floats stay where they are") {
  std::vector<std::uint16_t> halves(strip_elements), back(strip_elements);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i * 7);
  strip room;
  for (const auto type : {dtype::bf16, dtype::f16}) {
    const auto* in = reinterpret_cast<const std::byte*>(halves.data());
    CHECK(as_floats(type, in, halves.size(), room) == room.floats);
    store_floats(type, room.floats, halves.size(), reinterpret_cast<std::byte*>(back.data()));
    CHECK(back == halves);
  }
  const float values[2] = {1, 2};
  CHECK(as_floats(dtype::f32, reinterpret_cast<const std::byte*>(values), 2, room) == values);
}

TEST_CASE("lc/elements: blocks cover all elements") {
  CHECK(blocks_of(0) == 0);
  CHECK(blocks_of(block_elements) == 1);
  CHECK(blocks_of(block_elements + 1) == 2);
  CHECK(block_size(block_elements + 1, 0) == block_elements);
  CHECK(block_size(block_elements + 1, 1) == 1);
}
