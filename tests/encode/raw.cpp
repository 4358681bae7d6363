// SPDX-License-Identifier: MIT
#include "cairn/encode/raw.hpp"

#include <array>
#include <vector>

#include "catch.hpp"

TEST_CASE("raw says that elements are to be stored as they are") {
  const cairn::codecs::raw codec;
  const std::array<std::byte, 64> zeros{};
  CHECK(codec.name() == "raw");
  CHECK_FALSE(codec.uses_parent());
  CHECK(codec.bound(cairn::dtype::f32, zeros.size()) == 0);
  const auto done = codec.encode({.path = "a", .type = cairn::dtype::f32, .values = zeros}, {});
  CHECK(done.codec.empty());
  CHECK(done.bytes == 0);
  CHECK_FALSE(done.relative);
  CHECK_FALSE(done.lost);
}

TEST_CASE("raw decodes the elements themselves, and nothing else") {
  const cairn::codecs::raw codec;
  const std::vector<std::byte> payload(8, std::byte{7});
  std::vector<std::byte> values(8);
  codec.decode({.where = "f", .path = "a", .type = cairn::dtype::f32, .payload = payload, .values = values});
  CHECK(values == payload);
  codec.decode({.where = "f", .path = "a", .type = cairn::dtype::f32, .payload = {}, .values = {}});
  values.resize(4);
  CHECK_THROWS_WITH(
      codec.decode({.where = "f", .path = "a", .type = cairn::dtype::f32, .payload = payload, .values = values}),
      Catch::Matchers::ContainsSubstring("f: \"a\": has 8 bytes where its elements take 4"));
}
