// SPDX-License-Identifier: MIT
#include "cairn/core/error.hpp"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "catch.hpp"

TEST_CASE("an error carries its code and a sentence that says whose it is") {
  try {
    cairn::fail(cairn::errc::mismatch, {"w", " is F32"});
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::mismatch);
    CHECK(std::string(error.what()) == "cairn: w is F32");
    return;
  }
  FAIL("nothing was thrown");
}

TEST_CASE("every code has a name of its own") {
  std::set<std::string_view> names;
  const auto last = static_cast<int>(cairn::errc::lost_rank);
  for (int code = 0; code <= last; ++code) names.insert(cairn::name(static_cast<cairn::errc>(code)));
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK(cairn::name(cairn::errc::io) == "io");
  CHECK(cairn::name(cairn::errc::busy) == "busy");
  CHECK(cairn::name(cairn::errc::lost_rank) == "lost_rank");
  CHECK(cairn::name(static_cast<cairn::errc>(last + 1)) == "unknown");
}

TEST_CASE("an error of the system names action, file and cause") {
  try {
    cairn::fail_io("write", "a/b", ENOSPC);
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::io);
    CHECK(std::string(error.what()) == "cairn: cannot write a/b: No space left on device");
    return;
  }
  FAIL("nothing was thrown");
}

TEST_CASE("a sentence has texts and whole numbers of any type") {
  const std::string text = "b";
  CHECK(cairn::sentence({"a", text, std::string_view("c"), 1, 0U, -7, std::uint8_t{200},
                         std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::int64_t>::min()}) ==
        "abc10-720018446744073709551615-9223372036854775808");
}

TEST_CASE("a message shows names of any length and content in one line, and all other parts") {
  const std::string hostile = std::string("\0\n\x1b[2J", 6) + std::string(100'000, 'x') + '\xff';
  try {
    cairn::fail(cairn::errc::corrupt, {"file: \"", hostile, "\" and \"", hostile, "\" are wrong"});
  } catch (const cairn::error& error) {
    const std::string said = error.what();
    CHECK(said.starts_with("cairn: file: \"\\x00\\x0a\\x1b[2Jxxx"));
    CHECK(said.ends_with("x\\xff\" are wrong"));
    CHECK(said.find("\\xff\" and \"\\x00") != std::string::npos);
    CHECK(said.size() < 9000);
    CHECK(said == "cairn: " + std::string(error.sentence()));
    return;
  }
  FAIL("nothing was thrown");
}

TEST_CASE("the constructor escapes and cuts too") {
  const cairn::error error(cairn::errc::invalid, "a\tb" + std::string(100'000, 'x') + "c\nd");
  const std::string said = error.what();
  CHECK(said.starts_with("cairn: a\\x09bxxx"));
  CHECK(said.ends_with("xxc\\x0ad"));
  CHECK(said.size() < cairn::error::most_bytes + 100);
}
