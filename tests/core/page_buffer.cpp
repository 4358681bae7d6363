#include "cairn/core/page_buffer.hpp"

#include <cstdint>

#include "catch.hpp"

TEST_CASE("a page buffer grows and is aligned for direct I/O") {
  cairn::page_buffer buffer;
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
