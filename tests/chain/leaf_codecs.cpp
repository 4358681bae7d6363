// SPDX-License-Identifier: MIT
#include "cairn/chain/encoded_piece.hpp"

#include "catch.hpp"

namespace codecs = cairn::codecs;

TEST_CASE("every leaf has the codec of its first rule; small leaves and those under raw are not encoded") {
  std::vector<cairn::detail::leaf> leaves(4);
  const char* const paths[] = {"net.weight", "net.bias", "adam.m", "step"};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].path = paths[i];
    leaves[i].type = cairn::dtype::u8;
    leaves[i].shape = {i == 3 ? cairn::detail::least_encoded_bytes - 1 : cairn::detail::least_encoded_bytes};
  }
  cairn::codec_rules rules{
      {"*.bias", codecs::raw{}}, {"net.*", codecs::lossless{.xor_parent = true}}, {"adam.*", codecs::lossless{}}};
  const cairn::detail::leaf_codecs all(leaves, rules);
  CHECK(all.count() == 4);
  const std::size_t expected[] = {1, 0, 2, 3};
  const bool encoded[] = {true, false, true, false};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    INFO(leaves[i].path);
    CHECK(&all[i] == &all.of_rule(expected[i]));
    CHECK(all[i].uses_parent() == (i == 0));
    CHECK(all.is_encoded(i) == encoded[i]);
  }
  CHECK(all.use_parent());
  rules[1].pattern = "none";
  CHECK_FALSE(cairn::detail::leaf_codecs(leaves, rules).use_parent());
}

TEST_CASE("rules that are for no leaf are found: misspelled, or after one that takes all that they match") {
  const auto unmatched = [](const cairn::codec_rules& rules, std::vector<std::string> paths) {
    std::vector<cairn::detail::leaf> leaves(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) leaves[i].path = paths[i];
    return cairn::detail::leaf_codecs(leaves, rules).unmatched_rules();
  };
  const cairn::codec_rules rules{{"model.*", codecs::raw{}},
                                 {"model.layers.*", codecs::raw{}},
                                 {"optimiser.*", codecs::raw{}},
                                 {"optimizer.m", codecs::raw{}}};
  using patterns = std::vector<std::string>;
  CHECK(unmatched(rules, {"model.layers.0", "optimizer.m", "step"}) == patterns{"model.layers.*", "optimiser.*"});
  CHECK(unmatched(rules, {}).size() == 4);
  CHECK(unmatched({}, {"a"}).empty());
}
