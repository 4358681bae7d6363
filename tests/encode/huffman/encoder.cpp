// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/encoder.hpp"

#include "catch.hpp"
#include "cairn/encode/huffman/counts.hpp"
#include "encode/huffman/bytes.hpp"

using namespace cairn::detail::huffman;
using tests::random_bytes;

namespace {

/// What `encode` gives, bit by bit.
std::vector<std::byte> reference(const std::vector<std::byte>& in, const cairn::code_lengths& lengths) {
  const auto codes = canonical_codes(lengths);
  std::vector<std::byte> out(12);
  const std::size_t part = (in.size() + 3) / 4;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t begin = out.size();
    std::size_t bits = 0;
    for (std::size_t i = std::min(in.size(), k * part); i < std::min(in.size(), (k + 1) * part); ++i) {
      const auto s = std::to_integer<std::size_t>(in[i]);
      for (unsigned b = 0; b < lengths[s]; ++b, ++bits) {
        if (bits % 8 == 0) out.push_back(std::byte{});
        out.back() |= static_cast<std::byte>((codes[s] >> b & 1) << bits % 8);
      }
    }
    for (std::size_t b = 0; b < 4 && k < 3; ++b)
      out[4 * k + b] = static_cast<std::byte>((out.size() - begin) >> (8 * b));
  }
  return out;
}

}  // namespace

TEST_CASE("four streams hold the codes of the four parts, one after the other") {
  std::mt19937_64 random(1);
  for (std::size_t round = 0; round < 700; ++round) {
    const std::size_t n = round < 300 ? round : random() % 5000;
    const auto in = random_bytes(random, n);
    auto counts = count_bytes(in);
    if (round % 2 == 0)
      for (auto& count : counts) count += random() % 5;  // codes for what does not occur
    const auto lengths = find_code_lengths(counts);
    encoder code(lengths);
    const std::size_t coded = (coded_bits(count_bytes(in), lengths) + 7) / 8;
    for (const bool pairs : {false, true}) {
      if (pairs) code.prepare_pairs();
      for (const std::size_t room : {2 * n + encode_slack, coded + encode_slack}) {
        std::vector<std::byte> out(room + 16, std::byte{0xA5});
        out.resize(code.encode(in, std::span(out).first(room)));
        REQUIRE(out == reference(in, lengths));
      }
    }
  }
}

TEST_CASE("nothing behind the room that was asked for is touched") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const auto in = random_bytes(random, random() % 100);
    const auto counts = count_bytes(in);
    const auto lengths = find_code_lengths(counts);
    encoder code(lengths);
    if (round % 2 == 0) code.prepare_pairs();
    const std::size_t room = (coded_bits(counts, lengths) + 7) / 8 + encode_slack;
    std::vector<std::byte> out(room + 64, std::byte{0xA5});
    REQUIRE(code.encode(in, std::span(out).first(room)) <= room);
    for (std::size_t i = room; i < out.size(); ++i) REQUIRE(out[i] == std::byte{0xA5});
  }
}

TEST_CASE("a byte without code is left out") {
  cairn::code_lengths lengths{};
  lengths[1] = lengths[2] = 1;
  encoder code(lengths);
  const std::vector<std::byte> in(40, std::byte{7});
  std::vector<std::byte> out(in.size() + encode_slack);
  CHECK(code.encode(in, out) == stream_sizes_bytes);
  code.prepare_pairs();
  CHECK(code.encode(in, out) == stream_sizes_bytes);
}
