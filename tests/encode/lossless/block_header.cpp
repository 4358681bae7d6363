// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/block_header.hpp"

#include <random>
#include <vector>

#include "catch.hpp"

using cairn::detail::lossless::block_header;

namespace {

block_header random_header(std::mt19937& random, std::size_t width, std::uint32_t count) {
  block_header made;
  made.without_zeros = random() % 2 == 0;
  made.rotated = random() % 2 == 0;
  made.coded_planes = static_cast<unsigned>(random()) & ((1U << width) - 1);
  made.kept = made.without_zeros ? static_cast<std::uint32_t>(random()) % (count + 1) : count;
  made.marks_bytes = made.without_zeros ? static_cast<std::uint32_t>(random() % 100) : 0;
  for (std::size_t b = 0; b < width; ++b)
    if (made.is_coded(b)) made.coded_bytes[b] = static_cast<std::uint32_t>(random() % 100);
  return made;
}

std::size_t block_bytes(const block_header& header, std::size_t width) {
  std::size_t all = header.bytes() + header.marks_bytes;
  for (std::size_t b = 0; b < width; ++b) all += header.is_coded(b) ? header.coded_bytes[b] : header.kept;
  return all;
}

}  // namespace

TEST_CASE("a header is read as it was written") {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t width = std::size_t{1} << random() % 4;
    const auto header = random_header(random, width, 50);
    CHECK(header.bytes() <= block_header::bound);
    std::vector<std::byte> block(block_bytes(header, width));
    header.write(block.data());
    block_header back;
    REQUIRE(back.read(block, 50, width));
    CHECK(back.without_zeros == header.without_zeros);
    CHECK(back.rotated == header.rotated);
    CHECK(back.coded_planes == header.coded_planes);
    CHECK(back.kept == header.kept);
    CHECK(back.marks_bytes == header.marks_bytes);
    CHECK(back.coded_bytes == header.coded_bytes);

    // It says how long its block is; no other fits.
    for (std::size_t shorter = 0; shorter < block.size(); ++shorter)
      REQUIRE_FALSE(back.read(std::span(block).first(shorter), 50, width));
    block.push_back({});
    CHECK_FALSE(back.read(block, 50, width));
  }
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
