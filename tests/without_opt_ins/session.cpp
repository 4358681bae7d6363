// SPDX-License-Identifier: MIT
// A program of which no unit includes cairn/merge.hpp.
#include "cairn/run/session.hpp"

#include "cairn/checkpointer.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("a checkpointer that is to merge, in a program that does not include merging, names the header") {
  const sample::scratch scratch;
  const auto failure = sample::failure_of(
      [&] { const cairn::checkpointer checkpoints(scratch.path("run"), {.chain = {.merge_every = 2}}); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("chain.merge_every"));
  CHECK(failure.says("<cairn/merge.hpp>"));
}
