// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/block.hpp"

#include "catch.hpp"

using namespace cairn::detail::lossless;

namespace {

using bytes = std::vector<std::byte>;

std::size_t block_bytes(const block_header& header, std::size_t width) {
  std::size_t all = header.bytes() + header.marks_bytes;
  for (std::size_t b = 0; b < width; ++b) all += header.is_coded(b) ? header.coded_bytes[b] : header.kept;
  return all;
}

}  // namespace

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
