// SPDX-License-Identifier: MIT
#include "cairn/store/layout.hpp"

#include "catch.hpp"

using namespace cairn::detail;

TEST_CASE("a leaf without encoded pieces has no encoding") {
  std::optional<leaf_encoding> all;
  std::uint64_t bytes = 0;
  add_piece(all, bytes, nullptr, 7);
  CHECK_FALSE(all);
  CHECK(bytes == 7);
}

TEST_CASE("the encoding of a leaf has the bytes of all pieces, and the largest loss of each kind") {
  const encoding_info exact{"lossless", cairn::dtype::f32, {4}, false, {}};
  const encoding_info a{"lc2", cairn::dtype::f32, {4}, true, cairn::loss{1, 0.25}},
      b{"lc2", cairn::dtype::f32, {4}, false, cairn::loss{0.5, 0.5}};
  std::optional<leaf_encoding> all;
  std::uint64_t bytes = 0;
  add_piece(all, bytes, nullptr, 7);
  add_piece(all, bytes, &exact, 3);
  CHECK(all == leaf_encoding{"lossless", false, 10, {}});
  add_piece(all, bytes, &a, 5);
  add_piece(all, bytes, &b, 6);
  add_piece(all, bytes, nullptr, 1);
  CHECK(all == leaf_encoding{"lossless", true, 22, cairn::loss{1, 0.5}});
}
