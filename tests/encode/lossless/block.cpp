// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/block.hpp"

#include "catch.hpp"

using namespace cairn::detail::lossless;

namespace {

using bytes = std::vector<std::byte>;

/// Words of random bytes, of which `zeros_in_10` in ten are zero; their upper bytes have few values.
bytes words_of(std::size_t count, std::size_t width, unsigned zeros_in_10, unsigned seed) {
  std::mt19937_64 random(seed);
  bytes made(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    if (random() % 10 < zeros_in_10) continue;
    for (std::size_t b = 0; b < width; ++b)
      made[i * width + b] = static_cast<std::byte>(2 * b >= width ? random() % 4 : random());
  }
  return made;
}

std::size_t block_bytes(const block_header& header, std::size_t width) {
  std::size_t all = header.bytes() + header.marks_bytes;
  for (std::size_t b = 0; b < width; ++b) all += header.is_coded(b) ? header.coded_bytes[b] : header.kept;
  return all;
}

}  // namespace

TEST_CASE("blocks come back bit for bit, with and without a reference") {
  constexpr std::byte guard{0xA5};
  for (const std::size_t width : {1U, 2U, 4U, 8U})
    for (const std::size_t count : {1U, 2U, 7U, 63U, 64U, 65U, 1023U, 1024U, 1025U, 5000U})
      for (const unsigned zeros : {0U, 1U, 5U, 10U})
        for (const bool relative : {false, true}) {
          CAPTURE(width, count, zeros, relative);
          const auto reference = words_of(count, width, 0, 1);
          auto values = words_of(count, width, zeros, 2);
          if (relative)
            for (std::size_t i = 0; i < values.size(); ++i) values[i] ^= reference[i];
          const elements all{{width, width > 1}, values.data(), relative ? reference.data() : nullptr, count};
          const std::size_t bound = elements_bound(count, width);
          bytes out(bound + 1, guard);
          const block_memory memory(count, width);
          const std::size_t used = encode_elements(all, memory, std::span(out).first(bound));
          REQUIRE(used <= bound);
          CHECK(out.back() == guard);
          if (zeros == 10) CHECK(used <= 40);

          auto back = relative ? reference : bytes(values.size(), guard);
          REQUIRE(decode_elements(std::span(out).first(used), width, relative, memory, back));
          CHECK(back == values);
          CHECK_FALSE(decode_elements(std::span(out).first(used - 1), width, relative, memory, back));
          CHECK_FALSE(decode_elements(std::span(out).first(used + 1), width, relative, memory, back));
        }
}

TEST_CASE("marks that do not say how many elements are kept are refused") {
  constexpr std::size_t count = 4000;
  std::mt19937 random(3);
  bytes values(4 * count);  // every second word is zero, and the others are not worth coding
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i / 4 % 2 == 0) values[i] = static_cast<std::byte>(random());
  const block_memory memory(count, 4);
  bytes out(elements_bound(count, 4)), back(values.size());
  const std::size_t used = encode_elements({{4, false}, values.data(), nullptr, count}, memory, out);
  block_header header;
  REQUIRE(header.read(std::span(out).first(used), count, 4));
  REQUIRE(header.without_zeros);
  REQUIRE(header.coded_planes == 0);
  // One element less is kept, and one byte less is there of every plane.
  constexpr std::size_t stored = 4;
  const auto planes = out.begin() + static_cast<long>(header.bytes());
  out.erase(planes, planes + static_cast<long>(stored));
  --header.kept;
  header.write(out.data());
  REQUIRE(block_header(header).read(std::span(out).first(used - stored), count, 4));
  CHECK_FALSE(decode_elements(std::span(out).first(used - stored), 4, false, memory, back));
}

TEST_CASE("unknown flags, planes that there are not and more elements than all are refused") {
  const block_header header{.without_zeros = true, .kept = 3};
  std::vector<std::byte> block(block_bytes(header, 2));
  header.write(block.data());
  block_header back;
  CHECK(back.read(block, 3, 2));
  CHECK_FALSE(back.read(block, 2, 2));
  auto other = block;
  other[0] |= std::byte{4};
  CHECK_FALSE(back.read(other, 3, 2));
  other = block;
  other[1] = std::byte{4};
  other.resize(other.size() + 4);
  CHECK_FALSE(back.read(other, 3, 2));
}
