// SPDX-License-Identifier: MIT
// A program of which no unit includes cairn/encode/lc.hpp.
#include "cairn/encode/choice.hpp"

#include "cairn/load.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

struct some_leaves {
  std::vector<float> weight = std::vector<float>(700, 0.5F);
};

}  // namespace

TEST_CASE("a codec that no unit includes is not known, and the error names its header") {
  for (const auto* name : {"raw", "lossless"}) CHECK(cairn::detail::codec_named(name, {}, "file").name() == name);
  for (const auto* name : {"lc2", "lc3"}) {
    const auto failure =
        sample::failure_of([&] { static_cast<void>(cairn::detail::codec_named(name, {}, "run/shard")); });
    CHECK(failure.code == cairn::errc::unsupported);
    CHECK(failure.says("run/shard"));
    CHECK(failure.says("<cairn/encode/lc.hpp>"));
  }
}

TEST_CASE("a checkpoint that needs such a codec leaves the state as it was") {
  some_leaves state{std::vector<float>(3, 0.5F)};
  const auto before = state.weight;
  const auto failure = sample::failure_of([&] {
    static_cast<void>(cairn::load(CAIRN_TESTS "/golden/chain-4", state,
                                  {.filter = [](std::string_view path) { return path == "weight"; },
                                   .reshape = [](std::string_view) { return cairn::reshaping::resize; }}));
  });
  CHECK(failure.code == cairn::errc::unsupported);
  CHECK(failure.says("<cairn/encode/lc.hpp>"));
  CHECK(state.weight == before);
}
