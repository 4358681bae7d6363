// SPDX-License-Identifier: MIT
// Decodes some elements of payloads of which only the bytes that the codec asks for are there.
#pragma once

#include "cairn/encode/base.hpp"
#include "catch.hpp"

namespace tests {

/// Decodes random ranges of `whole`, the elements that all of the payload decodes to over `before`. `from` has all but
/// the memory.
template <class Random>
void check_ranges(const cairn::any_codec& codec, cairn::decode_request from, const std::vector<std::byte>& before,
                  const std::vector<std::byte>& whole, Random& random) {
  REQUIRE(codec.decodes_ranges());
  const auto stored = from.payload;
  const std::size_t width = size_of(from.type), count = whole.size() / width;
  for (int round = 0; round < 5; ++round) {
    std::uint64_t first = random() % (count + 1), last = random() % (count + 1);
    if (first > last) std::swap(first, last);
    if (round == 0) last = first + (first < count);
    std::vector<std::byte> payload(stored.size(), std::byte{0xEE}), values(whole.size(), std::byte{0x11});
    std::size_t bytes = 0;
    const std::function<void(std::size_t, std::size_t)> read = [&](std::size_t begin, std::size_t end) {
      REQUIRE(begin < end);
      REQUIRE(end <= stored.size());
      bytes += end - begin;
      std::memcpy(payload.data() + begin, stored.data() + begin, end - begin);
    };
    for (auto at = first * width; from.relative && at < last * width; ++at) values[at] = before[at];
    from.payload = payload;
    from.values = values;
    from.wanted = {first, last};
    from.read = &read;
    codec.decode(from);
    REQUIRE(std::equal(values.begin() + static_cast<long>(first * width),
                       values.begin() + static_cast<long>(last * width),
                       whole.begin() + static_cast<long>(first * width)));
    if (count > (std::size_t{1} << 19) && last - first < 100) CHECK(bytes < stored.size() * 3 / 4);
  }
}

}  // namespace tests
