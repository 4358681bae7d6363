// SPDX-License-Identifier: MIT
#include "cairn/system/owner_process.hpp"

#include <string>

#include "catch.hpp"
#include "child.hpp"

using cairn::posix::descriptor;

namespace {

descriptor open_null() { return cairn::posix::open_at(AT_FDCWD, "/dev/null", O_RDONLY); }

}  // namespace

TEST_CASE("a forked child has the file closed, the parent keeps it") {
  descriptor file = open_null(), other = open_null();
  {
    const cairn::posix::closed_in_children closed(file);
    const int number = file.get();
    const auto said = tests::in_child([&] {
      const bool is_closed = !file && ::fcntl(number, F_GETFD) < 0 && ::fcntl(other.get(), F_GETFD) >= 0;
      cairn::fail(cairn::errc::invalid, {is_closed ? "closed" : "open"});
    });
    CHECK(said.says("closed"));
    CHECK(::fcntl(number, F_GETFD) >= 0);
  }
  const auto said = tests::in_child(
      [&] { cairn::fail(cairn::errc::invalid, {::fcntl(file.get(), F_GETFD) < 0 ? "closed" : "open"}); });
  CHECK(said.says("open"));
}

TEST_CASE("a child may watch files of its own") {
  descriptor file = open_null();
  const cairn::posix::closed_in_children closed(file);
  const auto said = tests::in_child([&] {
    descriptor own = open_null();
    const cairn::posix::closed_in_children of_child(own);
    const auto inner = tests::in_child([&] { cairn::fail(cairn::errc::invalid, {own ? "open" : "closed"}); });
    cairn::fail(inner.code, {inner.sentence});
  });
  CHECK(said.says("closed"));
}
