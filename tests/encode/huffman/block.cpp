// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/block.hpp"

#include "catch.hpp"

using namespace cairn::detail::huffman;
using bytes = std::vector<std::byte>;

namespace {

bytes random_bytes(std::mt19937_64& random, std::size_t n) {
  bytes made(n);
  const auto kinds = random() % 256 + 1, shape = random() % 5;
  for (auto& byte : made) {
    auto value = random() % kinds;
    for (std::uint64_t k = 0; k < shape; ++k) value = std::min(value, random() % kinds);
    byte = static_cast<std::byte>(value);
  }
  return made;
}

/// In memory of the very size that is asked for, so that a sanitizer sees what goes beyond it.
bytes encoded(const bytes& in) {
  const auto out = std::make_unique<std::byte[]>(block_bound(in.size()));
  const std::size_t size = encode_block(in, std::span(out.get(), block_bound(in.size())));
  return {out.get(), out.get() + size};
}

bool decodes(std::span<const std::byte> in, bytes& out) {
  const auto from = std::make_unique<std::byte[]>(in.size());
  std::copy(in.begin(), in.end(), from.get());
  const auto to = std::make_unique<std::byte[]>(out.size());
  const bool good = decode_block({from.get(), in.size()}, {to.get(), out.size()});
  std::copy(to.get(), to.get() + out.size(), out.begin());
  return good;
}

bool round_trips(const bytes& in) {
  bytes back(in.size());
  return decodes(encoded(in), back) && back == in;
}

}  // namespace

TEST_CASE("a block comes back, and is never much longer") {
  std::mt19937_64 random(1);
  for (std::size_t n = 0; n <= 300; ++n)
    for (int round = 0; round < 4; ++round) REQUIRE(round_trips(random_bytes(random, n)));
  for (int round = 0; round < 150; ++round) {
    const auto in = random_bytes(random, random() % 100000);
    REQUIRE(encoded(in).size() <= in.size() + 16);
    REQUIRE(round_trips(in));
  }
  REQUIRE(round_trips(random_bytes(random, (std::size_t{1} << 21) + 7)));
}

TEST_CASE("blocks that almost pay and those that just do") {
  // Two kinds of bytes at the turn from stored to coded, at all short lengths.
  for (std::size_t n = 1; n < 200; ++n)
    for (std::size_t kinds = 1; kinds < 20; ++kinds) {
      bytes in(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<std::byte>(i % kinds * 13);
      const auto block = encoded(in);
      REQUIRE(block.size() <= n + 1);
      REQUIRE(round_trips(in));
    }
}

TEST_CASE("incompressible bytes are stored") {
  std::mt19937_64 random(2);
  for (const std::size_t n : {0U, 1U, 2U, 17U, 1000U, 70000U}) {
    bytes in(n);
    for (auto& byte : in) byte = static_cast<std::byte>(random());
    if (n == 2) in[1] = ~in[0];
    const auto block = encoded(in);
    CHECK(block.size() == (n == 1 ? 2 : n + 1));
    CHECK(round_trips(in));
  }
}

TEST_CASE("a byte repeated takes two bytes") {
  for (const std::size_t n : {1U, 2U, 1000U, 3000000U}) {
    const bytes in(n, std::byte{0xC3});
    CHECK(encoded(in).size() == 2);
    CHECK(round_trips(in));
  }
}

TEST_CASE("who has counted need not count again") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const auto in = random_bytes(random, random() % 5000);
    bytes out(block_bound(in.size()));
    out.resize(encode_block(in, count_bytes(in), out));
    CHECK(out == encoded(in));
  }
}

TEST_CASE("packed symbols of two bits, block by block, cost little more than their entropy") {
  // .90 .05 .03 .02, four a byte: 0.6179 bits each.
  std::mt19937_64 random(4);
  const auto symbol = [&] {
    const auto x = random() % 100;
    return x < 90 ? 0U : x < 95 ? 1U : x < 98 ? 2U : 3U;
  };
  bytes in(std::size_t{1} << 18);
  for (auto& byte : in) byte = static_cast<std::byte>(symbol() | symbol() << 2 | symbol() << 4 | symbol() << 6);
  const double bits = 8 * static_cast<double>(encoded(in).size());
  CHECK(bits <= 1.06 * 0.6179 * 4 * static_cast<double>(in.size()));
}

TEST_CASE("a block cut short, of another size or of no kind is refused") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    const auto in = random_bytes(random, random() % 3000 + 1);
    const auto block = encoded(in);
    bytes back(in.size());
    for (std::size_t cut = 0; cut < block.size(); cut += block.size() / 30 + 1)
      REQUIRE_FALSE(decodes(std::span(block).first(cut), back));
    auto longer = block;
    longer.push_back(std::byte{});
    REQUIRE_FALSE(decodes(longer, back));
    auto wrong = block;
    wrong[0] = static_cast<std::byte>(3 + random() % 253);
    REQUIRE_FALSE(decodes(wrong, back));
    if (block.size() == 2) continue;  // any size can be repeated
    back.resize(in.size() + 32);
    REQUIRE_FALSE(decodes(block, back));
  }
  bytes none;
  CHECK_FALSE(decodes({}, none));
  CHECK_FALSE(decodes(bytes{std::byte{1}, std::byte{5}}, none));
}
