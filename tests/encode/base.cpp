// SPDX-License-Identifier: MIT
#include "cairn/encode/base.hpp"
#include "cairn/encode/raw.hpp"
#include "cairn/encode/choice.hpp"

#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

/// What a user may write: flips the bits of a mask.
struct mask_codec {
  std::byte mask{};

  std::string name() const { return "mask"; }
  bool uses_parent() const { return false; }
  std::size_t bound(cairn::dtype, std::size_t bytes) const { return bytes + 1; }

  cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    out[0] = mask;
    std::transform(in.values.begin(), in.values.end(), out.begin() + 1, [&](std::byte b) { return b ^ mask; });
    return {.codec = name(), .bytes = in.values.size() + 1};
  }

  void decode(const cairn::decode_request& from) const {
    if (from.payload.size() != from.values.size() + 1)
      cairn::fail(cairn::errc::corrupt, {from.where, ": \"", from.path, "\": not what mask wrote"});
    std::transform(from.payload.begin() + 1, from.payload.end(), from.values.begin(),
                   [&](std::byte b) { return b ^ from.payload[0]; });
  }
};

static_assert(cairn::codec<mask_codec> && cairn::codec<cairn::any_codec>);
static_assert(cairn::codec<cairn::codecs::raw> && cairn::codec<cairn::codecs::lossless>);
static_assert(cairn::codec<cairn::codecs::lc<2>> && cairn::codec<cairn::codecs::lc<3>>);
static_assert(cairn::mergeable_codec<cairn::any_codec> && cairn::mergeable_codec<cairn::codecs::lossless>);
static_assert(cairn::mergeable_codec<cairn::codecs::lc<2>> && cairn::mergeable_codec<cairn::codecs::lc<3>>);
static_assert(!cairn::mergeable_codec<mask_codec> && !cairn::mergeable_codec<cairn::codecs::raw>);
static_assert(!cairn::codec<int> && !cairn::codec<std::string>);

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("a codec of the user's own goes through any_codec") {
  const std::string text = "some elements of a leaf";
  const cairn::encode_request request{.path = "a.b", .type = cairn::dtype::u8, .values = bytes_of(text)};
  const cairn::any_codec codec = mask_codec{std::byte{'s'}};
  CHECK(codec.name() == "mask");
  CHECK_FALSE(codec.uses_parent());
  CHECK_FALSE(codec.merge({}));  // not mergeable
  CHECK(codec.bound(cairn::dtype::u8, 10) == 11);

  std::vector<std::byte> out(codec.bound(request.type, request.values.size()));
  const auto done = codec.encode(request, out);
  CHECK(done.codec == "mask");
  CHECK_FALSE(done.relative);
  CHECK_FALSE(done.lost);
  CHECK(done.bytes == out.size());
  CHECK(out[0] == std::byte{'s'});
  std::string back(text.size(), '?');
  codec.decode({.where = "f",
                .path = "a.b",
                .type = request.type,
                .payload = out,
                .values = std::as_writable_bytes(std::span(back))});
  CHECK(back == text);
  CHECK_THROWS_WITH(codec.decode({.where = "file",
                                  .path = "a.b",
                                  .type = request.type,
                                  .payload = {},
                                  .values = std::as_writable_bytes(std::span(back))}),
                    ContainsSubstring("file: \"a.b\""));
}

TEST_CASE("copies share a codec") {
  const cairn::any_codec codec = cairn::codecs::lossless{.xor_parent = true};
  const cairn::any_codec copy = codec;  // NOLINT: that is what is tested
  for (const auto& each : {codec, copy}) {
    CHECK(each.name() == "lossless");
    CHECK(each.uses_parent());
  }
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
      ContainsSubstring("f: \"a\": has 8 bytes where its elements take 4"));
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
