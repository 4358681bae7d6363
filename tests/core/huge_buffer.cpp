#include "cairn/core/huge_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::huge_buffer;

TEST_CASE("as much memory as asked for, in whole pages, to be written and read") {
  for (const std::size_t bytes : {0U, 1U, 4096U, 4097U, 100'000U, 2U << 20U, (2U << 20U) + 1}) {
    const huge_buffer made(bytes);
    CHECK(made.bytes().size() >= bytes);
    CHECK(made.bytes().size() < bytes + (bytes < huge_buffer::huge_page ? huge_buffer::page : huge_buffer::huge_page));
    CHECK(reinterpret_cast<std::uintptr_t>(made.bytes().data()) % huge_buffer::page == 0);
    std::fill(made.bytes().begin(), made.bytes().end(), std::byte{7});
    CHECK(std::count(made.bytes().begin(), made.bytes().end(), std::byte{7}) ==
          static_cast<std::ptrdiff_t>(made.bytes().size()));
  }
}

TEST_CASE("it moves") {
  huge_buffer first(10);
  first.bytes()[0] = std::byte{1};
  huge_buffer second(std::move(first));
  first = huge_buffer(20);
  CHECK(second.bytes()[0] == std::byte{1});
  CHECK(first.bytes().data() != second.bytes().data());
}

TEST_CASE("more than there can be is an error") {
  const auto failure =
      sample::failure_of([] { static_cast<void>(huge_buffer(std::numeric_limits<std::size_t>::max() / 4)); });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says("cannot allocate"));
}
