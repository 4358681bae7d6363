#include "cairn/core/pages.hpp"

#include <cstring>
#include <memory>

#include "catch.hpp"

TEST_CASE("ranges that touch or nearly touch become one") {
  const auto joined = cairn::join_ranges({{50, 60}, {0, 10}, {12, 20}, {15, 18}}, 2);
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].begin == 0);
  CHECK(joined[0].end == 20);
  CHECK(joined[1].begin == 50);
  CHECK(cairn::join_ranges({}, 5).empty());
}

TEST_CASE("populated memory keeps its contents") {
  const std::size_t bytes = 5 << 20;
  const auto memory = std::make_unique<char[]>(bytes);
  std::memset(memory.get(), 7, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.get());
  cairn::populate_pages({{begin + 1, begin + bytes / 2}, {begin + bytes / 2, begin + bytes}}, 2);
  CHECK(std::all_of(memory.get(), memory.get() + bytes, [](char c) { return c == 7; }));
}
