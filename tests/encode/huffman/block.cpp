// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/block.hpp"

#include "catch.hpp"
#include "encode/huffman/bytes.hpp"

using namespace cairn::detail::huffman;
using tests::bytes;
using tests::random_bytes;

namespace {

/// In memory of the very size that is asked for, so that a sanitizer sees what goes beyond it.
bytes encoded(const bytes& in) {
  const auto out = std::make_unique<std::byte[]>(block_bound(in.size()));
  const std::size_t size = encode_block(in, std::span(out.get(), block_bound(in.size())));
  return {out.get(), out.get() + size};
}

bool decodes(std::span<const std::byte> in, bytes& out) { return tests::decodes(decode_block, in, out); }

}  // namespace

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
