// SPDX-License-Identifier: MIT
#include "cairn/system/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("ranges that touch or nearly touch become one") {
  const auto joined = cairn::detail::join_ranges({{50, 60}, {0, 10}, {12, 20}, {15, 18}}, 2);
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].begin == 0);
  CHECK(joined[0].end == 20);
  CHECK(joined[1].begin == 50);
  CHECK(cairn::detail::join_ranges({}, 5).empty());
}

TEST_CASE("populated memory keeps its contents") {
  const std::size_t bytes = 5 << 20;
  const auto memory = std::make_unique<char[]>(bytes);
  std::memset(memory.get(), 7, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.get());
  cairn::detail::populate_pages({{begin + 1, begin + bytes / 2}, {begin + bytes / 2, begin + bytes}}, 2);
  CHECK(std::all_of(memory.get(), memory.get() + bytes, [](char c) { return c == 7; }));
}

TEST_CASE("a page buffer grows and is aligned for direct I/O") {
  cairn::detail::page_buffer buffer;
  CHECK(buffer.bytes().empty());
  const auto few = buffer.first(10);
  few[9] = std::byte{7};
  CHECK(few.size() == 10);
  CHECK(reinterpret_cast<std::uintptr_t>(few.data()) % 4096 == 0);
  CHECK(buffer.first(5).data() == few.data());
  CHECK(buffer.first(9000).size() == 9000);
  CHECK(buffer.bytes().size() == 9000);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 4096 == 0);
}

TEST_CASE("as much memory as asked for, in whole pages, to be written and read") {
  for (const std::size_t bytes : {0U, 1U, 4096U, 4097U, 100'000U, 2U << 20U, (2U << 20U) + 1}) {
    const cairn::detail::huge_buffer made(bytes);
    CHECK(made.bytes().size() >= bytes);
    CHECK(made.bytes().size() < bytes + (bytes < cairn::detail::huge_page_bytes ? cairn::detail::page_bytes
                                                                                : cairn::detail::huge_page_bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(made.bytes().data()) % cairn::detail::page_bytes == 0);
    std::fill(made.bytes().begin(), made.bytes().end(), std::byte{7});
    CHECK(std::count(made.bytes().begin(), made.bytes().end(), std::byte{7}) ==
          static_cast<std::ptrdiff_t>(made.bytes().size()));
  }
}

TEST_CASE("a huge buffer moves") {
  cairn::detail::huge_buffer first(10);
  first.bytes()[0] = std::byte{1};
  cairn::detail::huge_buffer second(std::move(first));
  first = cairn::detail::huge_buffer(20);
  CHECK(second.bytes()[0] == std::byte{1});
  CHECK(first.bytes().data() != second.bytes().data());
}

TEST_CASE("more than there can be is an error") {
  const auto failure = sample::failure_of(
      [] { static_cast<void>(cairn::detail::huge_buffer(std::numeric_limits<std::size_t>::max() / 4)); });
  CHECK(failure.code == cairn::errc::no_memory);
  CHECK(failure.says("cannot allocate"));
}
