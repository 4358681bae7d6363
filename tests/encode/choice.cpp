// SPDX-License-Identifier: MIT
#include "cairn/encode/choice.hpp"

#include "cairn/encode/lc.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("the first rule that matches a path counts") {
  const cairn::codec_rules rules{{"model.*.bias", cairn::codecs::raw{}},
                                 {"model.*", cairn::codecs::lc<3>{}},
                                 {"optimizer.[mv]", cairn::codecs::lc<2>{}}};
  CHECK(cairn::detail::rule_for("model.layers.0.bias", rules) == 0);
  CHECK(cairn::detail::rule_for("model.layers.0.weight", rules) == 1);
  CHECK(cairn::detail::rule_for("optimizer.v", rules) == 2);
  CHECK(cairn::detail::rule_for("optimizer.vv", rules) == rules.size());
  CHECK(cairn::detail::rule_for("my.model.x", rules) == rules.size());
  CHECK(cairn::detail::rule_for("model", {}) == 0);
}

TEST_CASE("a path has the codec of its rule, or is raw") {
  const cairn::codec_rules rules{{"a*", cairn::codecs::raw{}}, {"b", cairn::codecs::lc<2>{}}};
  CHECK(cairn::detail::codec_for("ab", rules).name() == "raw");
  CHECK(cairn::detail::codec_for("b", rules).name() == "lc2");
  CHECK(cairn::detail::codec_for("c", rules).name() == "raw");
  CHECK(cairn::detail::codec_of_rule(1, rules).name() == "lc2");
  CHECK(cairn::detail::codec_of_rule(2, rules).name() == "raw");
  CHECK(cairn::detail::use_parent(rules));
  CHECK_FALSE(cairn::detail::use_parent({{"a", cairn::codecs::raw{}}}));
}

TEST_CASE("a payload's codec is found by name") {
  for (const auto* name : {"raw", "lossless", "lc2", "lc3"})
    CHECK(cairn::detail::codec_named(name, {}, "file").name() == name);
  struct renamed : cairn::codecs::raw {
    [[nodiscard]] std::string name() const { return "mine"; }
  };
  const cairn::codec_rules rules{{"nothing", renamed{}}};
  CHECK(cairn::detail::codec_named("mine", rules, "file").name() == "mine");
  const auto failure =
      sample::failure_of([] { static_cast<void>(cairn::detail::codec_named("mine", {}, "run/shard")); });
  CHECK(failure.code == cairn::errc::unsupported);
  CHECK(failure.says("run/shard"));
  CHECK(failure.says("\"mine\""));
}
