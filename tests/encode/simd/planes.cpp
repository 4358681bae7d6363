// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lossless_kernels.hpp"

#include "catch.hpp"

namespace {

using bytes = std::vector<std::byte>;

bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  bytes made(count);
  for (auto& each : made) each = static_cast<std::byte>(random());
  return made;
}

std::uint64_t word_at(const std::byte* values, std::size_t width, std::size_t i) {
  std::uint64_t word = 0;
  std::memcpy(&word, values + i * width, width);
  return word;
}

/// What split is to give, plane by plane.
bytes planes_of(const std::byte* values, std::size_t count, std::size_t width, bool rotate) {
  bytes planes(count * width);
  const auto bits = static_cast<unsigned>(8 * width);
  for (std::size_t i = 0; i < count; ++i) {
    auto word = word_at(values, width, i);
    if (rotate && width > 1) word = word << 1 | word >> (bits - 1);
    for (std::size_t b = 0; b < width; ++b) planes[b * count + i] = static_cast<std::byte>(word >> (8 * b));
  }
  return planes;
}

constexpr std::byte guard{0x5A};

/// Splits and merges `count` elements, all memory `offset` bytes beyond its beginning; true when all is as it has to
/// be.
bool splits_and_merges(const cairn::detail::simd::planes_kernels& kernels, const bytes& random, std::size_t count,
                       std::size_t width, std::size_t offset, bool rotate) {
  const std::byte* const values = random.data() + offset;
  const auto expected = planes_of(values, count, width, rotate);
  std::vector<bytes> made(width, bytes(count + offset + 1, guard));
  std::byte* planes[8] = {};
  const std::byte* const_planes[8] = {};
  for (std::size_t b = 0; b < width; ++b) const_planes[b] = planes[b] = made[b].data() + offset;
  kernels.of_width(width).split(values, count, rotate, planes);
  for (std::size_t b = 0; b < width; ++b) {
    if (count > 0 && std::memcmp(planes[b], expected.data() + b * count, count) != 0) return false;
    if (planes[b][count] != guard || (offset > 0 && planes[b][-1] != guard)) return false;
  }
  bytes merged(count * width + offset + 1, guard);
  kernels.of_width(width).merge(const_planes, count, rotate, merged.data() + offset);
  return (count == 0 || std::memcmp(merged.data() + offset, values, count * width) == 0) && merged.back() == guard &&
         (offset == 0 || merged[offset - 1] == guard);
}

}  // namespace

TEST_CASE("elements become byte planes and elements again, on every target") {
  const auto random = random_bytes(4200 * 8 + 64, 1);
  for (const auto* kernels : cairn::detail::simd::all_planes()) {
    for (const std::size_t width : {1U, 2U, 4U, 8U})
      for (const bool rotate : {false, true}) {
        CAPTURE(kernels->target, width, rotate);
        std::size_t wrong = 0;
        for (std::size_t count = 0; count <= 4200; ++count)
          wrong += !splits_and_merges(*kernels, random, count, width, count * 7 % 64, rotate);
        for (std::size_t offset = 0; offset < 64; ++offset)
          for (const std::size_t count : {15U, 64U, 201U})
            wrong += !splits_and_merges(*kernels, random, count, width, offset, rotate);
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("the sign of a floating-point number becomes the lowest bit, the exponent the highest byte") {
  const float values[] = {1.0F, -2.0F};  // exponents 127 and 128
  std::byte memory[4][2];
  std::byte* planes[] = {memory[0], memory[1], memory[2], memory[3]};
  cairn::detail::simd::planes().of_width(4).split(reinterpret_cast<const std::byte*>(values), 2, true, planes);
  CHECK(planes[3][0] == std::byte{127});
  CHECK(planes[3][1] == std::byte{128});
  CHECK(planes[0][0] == std::byte{0});
  CHECK(planes[0][1] == std::byte{1});
}

TEST_CASE("bytes are combined by XOR, in place too, on every target") {
  const auto a = random_bytes(4300, 2), b = random_bytes(4300, 3);
  for (const auto* kernels : cairn::detail::simd::all_planes()) {
    CAPTURE(kernels->target);
    std::size_t wrong = 0;
    for (std::size_t count = 0; count <= 4200; ++count) {
      const std::size_t offset = count % 64;
      bytes sum(count + 1, guard), place(a.begin(), a.end());
      kernels->combine(a.data() + offset, b.data() + 1, count, sum.data());
      kernels->combine(place.data() + offset, b.data() + 1, count, place.data() + offset);
      for (std::size_t i = 0; i < count; ++i) wrong += sum[i] != (a[offset + i] ^ b[1 + i]);
      wrong += count > 0 && std::memcmp(place.data() + offset, sum.data(), count) != 0;
      wrong += sum[count] != guard || place[offset + count] != a[offset + count];
    }
    CHECK(wrong == 0);
  }
}
