// SPDX-License-Identifier: MIT
#include "cairn/store/layout.hpp"

#include "catch.hpp"

using namespace cairn::detail;

namespace {

constexpr const encoding_info* none = nullptr;

}  // namespace

TEST_CASE("a leaf without encoded pieces has no encoding") {
  leaf_pieces all;
  all.add(7, none);
  CHECK_FALSE(all.encoded);
  CHECK(all.bytes == 7);
}

TEST_CASE("the encoding of a leaf has the bytes of all pieces, and the largest loss of each kind") {
  const encoding_info exact{"lossless", cairn::dtype::f32, {4}, false, {}};
  const encoding_info a{"lc2", cairn::dtype::f32, {4}, true, cairn::loss{1, 0.25}},
      b{"lc2", cairn::dtype::f32, {4}, false, cairn::loss{0.5, 0.5}};
  leaf_pieces all;
  all.add(7, none);
  all.add(3, &exact);
  CHECK(all.encoded == leaf_encoding{"lossless", false, 10, {}});
  all.add(5, &a);
  all.add(6, &b);
  all.add(1, none);
  CHECK(all.encoded == leaf_encoding{"lossless", true, 22, cairn::loss{1, 0.5}});
}
