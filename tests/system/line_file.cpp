// SPDX-License-Identifier: MIT
#include "cairn/system/line_file.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("lines are appended to what is there") {
  const sample::scratch scratch;
  sample::spill(scratch.path("log"), "old\n");
  {
    cairn::detail::line_file file(scratch.path("log"));
    file.add("one\n");
    file.add("two\n");
  }
  CHECK(sample::slurp(scratch.path("log")) == "old\none\ntwo\n");
}

TEST_CASE("a file that cannot be opened is an error that names it") {
  const auto failure = sample::failure_of([] { cairn::detail::line_file("/nowhere/at/all"); });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says("/nowhere/at/all"));
}
