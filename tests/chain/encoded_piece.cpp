// SPDX-License-Identifier: MIT
#include "cairn/chain/encoded_piece.hpp"

#include "catch.hpp"

using cairn::detail::encoded_piece;

TEST_CASE("a piece is written from the leaf, from its copy, or as its payload") {
  const std::byte copy[16]{};
  cairn::detail::leaf leaf;
  leaf.type = cairn::dtype::f32;
  leaf.shape = {10};
  cairn::detail::shards_of<encoded_piece> shards(2);
  shards[0].push_back({{0, 0, 2}, {}, {}, {}});
  shards[0].push_back({{0, 2, 4}, {}, copy, {}});
  auto& encoded = shards[1].emplace_back(encoded_piece{{0, 6, 4}, {}, {}, {}});
  cairn::detail::page_buffer memory(5);
  const auto* const payload = memory.bytes().data();
  encoded.own({"mine", cairn::dtype::f32, {4}, false, {}}, std::move(memory), 3);
  CHECK(shards[0][0].stored_bytes(leaf) == 8);
  CHECK(shards[0][1].stored_bytes(leaf) == 16);
  CHECK(encoded.stored_bytes(leaf) == 3);

  const auto all = cairn::detail::for_writer(shards);
  REQUIRE(all.size() == 2);
  REQUIRE(all[0].size() == 2);
  CHECK((all[0][0].bytes.empty() && all[0][0].how == nullptr));
  CHECK((all[0][1].bytes.data() == copy && all[0][1].bytes.size() == 16 && all[0][1].how == nullptr));
  const auto& written = all[1].at(0);
  CHECK((written.bytes.data() == payload && written.bytes.size() == 3 && written.how == &*shards[1][0].how));
  CHECK(static_cast<const cairn::detail::piece&>(written) == cairn::detail::piece{0, 6, 4});
}
