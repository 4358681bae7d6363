// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/decoder.hpp"

#include "catch.hpp"
#include "cairn/encode/huffman/counts.hpp"
#include "encode/huffman/bytes.hpp"

using namespace cairn::detail::huffman;
using cairn::code_lengths;
using tests::bytes;
using tests::random_bytes;

namespace {

bytes encoded(const encoder& code, const bytes& in) {
  bytes out(2 * in.size() + encode_slack);
  out.resize(code.encode(in, out));
  return out;
}

bool decodes(const decoder& code, std::span<const std::byte> in, std::span<std::byte> out) {
  return tests::decodes([&](auto from, auto to) { return code.decode(from, to); }, in, out);
}

bool round_trips(const bytes& in) {
  const auto lengths = find_code_lengths(count_bytes(in));
  bytes back(in.size());
  return decodes(decoder(lengths), encoded(encoder(lengths), in), back) && back == in;
}

}  // namespace

TEST_CASE("what was encoded is decoded, at all lengths") {
  std::mt19937_64 random(1);
  // No bytes have no code, and no decoder.
  for (std::size_t n = 1; n <= 300; ++n)
    for (int round = 0; round < 4; ++round) REQUIRE(round_trips(random_bytes(random, n)));
  for (int round = 0; round < 150; ++round) REQUIRE(round_trips(random_bytes(random, random() % 60000 + 1)));
  REQUIRE(round_trips(random_bytes(random, 3000001)));
}

TEST_CASE("no bytes are decoded from no codes, and from nothing else") {
  code_lengths lengths{};
  lengths[3] = lengths[4] = 1;
  const decoder code(lengths);
  bytes in(12);
  CHECK(encoded(encoder(lengths), {}) == in);
  CHECK(decodes(code, in, {}));
  in.push_back(std::byte{});
  CHECK_FALSE(decodes(code, in, {}));
  in.resize(11);
  CHECK_FALSE(decodes(code, in, {}));
  CHECK_FALSE(decodes(code, {}, {}));
}

TEST_CASE("codes of another number of bytes are refused") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    const auto in = random_bytes(random, random() % 3000 + 1);
    const auto lengths = find_code_lengths(count_bytes(in));
    const auto codes = encoded(encoder(lengths), in);
    const decoder code(lengths);
    // Eight codes more or less per stream are at least one byte.
    for (const std::size_t more : {std::size_t{32}, std::size_t{100}, in.size() + 32}) {
      bytes back(in.size() + more);
      REQUIRE_FALSE(decodes(code, codes, back));
      if (more > in.size()) continue;
      back.resize(in.size() - more);
      REQUIRE_FALSE(decodes(code, codes, back));
    }
    auto longer = codes;
    longer.push_back(std::byte{});
    bytes back(in.size());
    REQUIRE_FALSE(decodes(code, longer, back));
    for (std::size_t cut = 0; cut < codes.size(); cut += codes.size() / 20 + 1)
      REQUIRE_FALSE(decodes(code, std::span(codes).first(cut), back));
  }
}

TEST_CASE("bits that are left over must be 0") {
  code_lengths lengths{};
  lengths[0] = lengths[1] = 1;
  const decoder code(lengths);
  const bytes in(4);
  auto codes = encoded(encoder(lengths), in);
  REQUIRE(codes.size() == 16);
  bytes back(4);
  for (std::size_t k = 12; k < 16; ++k)
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto flipped = codes;
      flipped[k] ^= static_cast<std::byte>(1U << bit);
      CHECK(decodes(code, flipped, back) == (bit == 0));
    }
}

TEST_CASE("a code of one symbol refuses the bits that are no code") {
  code_lengths lengths{};
  lengths[9] = 1;
  const decoder code(lengths);
  for (const std::size_t n : {1U, 40U, 4000U}) {
    const bytes in(n, std::byte{9});
    const auto codes = encoded(encoder(lengths), in);
    bytes back(n);
    REQUIRE(decodes(code, codes, back));
    REQUIRE(back == in);
    for (std::size_t i = 12; i < codes.size(); i += codes.size() / 50 + 1) {
      auto flipped = codes;
      flipped[i] |= std::byte{1};
      REQUIRE_FALSE(decodes(code, flipped, back));
    }
  }
}

TEST_CASE("flipped and random bytes end, within bounds") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto in = random_bytes(random, random() % 2000 + 1);
    const auto lengths = find_code_lengths(count_bytes(in));
    auto codes = encoded(encoder(lengths), in);
    if (round % 3 == 0) {
      for (std::size_t i = 12; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(random());
    } else {
      for (auto flips = random() % 4 + 1; flips > 0; --flips)
        codes[random() % codes.size()] ^= static_cast<std::byte>(1U << random() % 8);
    }
    bytes back(round % 5 == 0 ? random() % 4000 : in.size());
    // Other codes may mean something too; that they are decoded twice alike is all there is to ask for.
    const decoder code(lengths);
    const bool good = decodes(code, codes, back);
    auto again = back;
    REQUIRE(decodes(code, codes, again) == good);
    if (good) REQUIRE(encoded(encoder(lengths), back) == codes);
  }
}

TEST_CASE("streams that lie beyond the end are refused") {
  code_lengths lengths{};
  lengths.fill(8);
  const decoder code(lengths);
  const auto in = bytes(400, std::byte{1});
  const auto codes = encoded(encoder(lengths), in);
  bytes back(400);
  REQUIRE(decodes(code, codes, back));
  for (std::size_t i = 0; i < 12; ++i)
    for (const unsigned value : {0U, 1U, 99U, 101U, 255U}) {
      auto wrong = codes;
      if (wrong[i] == static_cast<std::byte>(value)) continue;
      wrong[i] = static_cast<std::byte>(value);
      CHECK_FALSE(decodes(code, wrong, back));
    }
}

TEST_CASE("more codes than bytes stay within the bytes") {
  code_lengths lengths{};
  lengths[0] = lengths[1] = 1;
  const decoder code(lengths);
  for (const std::size_t size : {7U, 8U, 9U, 13U, 14U, 15U, 40U})
    for (std::size_t n = 0; n < 200; ++n) {
      bytes in(12 + 4 * size), back(n);
      for (std::size_t k = 0; k < 3; ++k) in[4 * k] = static_cast<std::byte>(size);
      const bool fits = (stream_begin(n, 1) + 7) / 8 == size && (n - stream_begin(n, 3) + 7) / 8 == size;
      REQUIRE(decodes(code, in, back) == fits);
    }
}

TEST_CASE("lengths that are no complete code decode nothing") {
  std::mt19937_64 random(6);
  bytes in(500);
  for (auto& byte : in) byte = static_cast<std::byte>(random());
  std::fill(in.begin(), in.begin() + 12, std::byte{});
  for (int round = 0; round < 500; ++round) {
    code_lengths lengths{};
    for (auto& length : lengths)
      if (random() % 4 == 0) length = static_cast<std::uint8_t>(random() >> (56 + random() % 8));
    if (is_complete(lengths)) continue;
    bytes back(random() % 1000 + 1);
    REQUIRE_FALSE(decodes(decoder(lengths), in, back));
  }
  code_lengths quarters{};
  quarters[0] = quarters[1] = 2;
  bytes back(100);
  CHECK_FALSE(decodes(decoder(quarters), encoded(encoder(quarters), bytes(100)), back));
}
