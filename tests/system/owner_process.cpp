// SPDX-License-Identifier: MIT
#include "cairn/system/owner_process.hpp"

#include "catch.hpp"
#include "child.hpp"

TEST_CASE("an object belongs to the process that has made it, and not to its children") {
  const cairn::detail::owner_process here;
  CHECK(here.is_here());
  const auto failure = tests::in_child([&] { here.check("this object"); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("this object belongs to the parent process"));
  const auto of_child = tests::in_child([&] {
    const cairn::detail::owner_process own;
    own.check("the child's object");
    const auto of_grandchild = tests::in_child([&] { own.check("the child's object"); });
    cairn::fail(of_grandchild.code, {of_grandchild.sentence});
  });
  CHECK(of_child.says("the child's object belongs to the parent process"));
  CHECK_NOTHROW(here.check("this object"));
}
