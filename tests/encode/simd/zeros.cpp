// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lossless_kernels.hpp"

#include "catch.hpp"

namespace {

using bytes = std::vector<std::byte>;
constexpr std::byte guard{0x5A};
constexpr std::size_t slack = 16;

/// Elements of which some are zero: all, none, runs of them, or one here and there.
bytes sparse_elements(std::size_t count, std::size_t width, unsigned seed) {
  std::mt19937_64 random(seed);
  bytes made(count * width);
  bool run_of_zeros = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (random() % 100 == 0) run_of_zeros = !run_of_zeros;
    const bool is_zero = seed % 4 == 1 || (seed % 4 == 2 && run_of_zeros) || (seed % 4 == 3 && random() % 3 == 0);
    if (is_zero) continue;
    // One bit of the element may be all that is set.
    std::uint64_t word = random() % 4 == 0 ? std::uint64_t{1} << random() % (8 * width) : random() | 1;
    std::memcpy(made.data() + i * width, &word, width);
  }
  return made;
}

bool is_zero(const std::byte* element, std::size_t width) {
  for (std::size_t b = 0; b < width; ++b)
    if (element[b] != std::byte{}) return false;
  return true;
}

/// Marks, packs and unpacks; true when all is as it has to be.
bool takes_zeros_out_and_in(const cairn::detail::simd::zeros_kernels& all, const std::byte* values, std::size_t count,
                            std::size_t width, std::size_t offset) {
  bytes expected_marks((count + 7) / 8), expected;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_zero(values + i * width, width)) continue;
    expected_marks[i / 8] |= std::byte{1} << i % 8;
    expected.insert(expected.end(), values + i * width, values + (i + 1) * width);
  }
  const auto& kernels = all.of_width(width);
  bytes marks(offset + expected_marks.size() + 1, guard);
  const std::size_t kept = kernels.mark(values, count, marks.data() + offset);
  if (kept != expected.size() / width || marks.back() != guard) return false;
  if (!std::equal(expected_marks.begin(), expected_marks.end(), marks.begin() + static_cast<long>(offset)))
    return false;
  if (all.count_marks(marks.data() + offset, expected_marks.size()) != kept) return false;

  bytes packed(offset + count * width + slack + 1, guard);
  if (kernels.pack(values, marks.data() + offset, count, packed.data() + offset) != kept) return false;
  if (!std::equal(expected.begin(), expected.end(), packed.begin() + static_cast<long>(offset))) return false;
  if (packed.back() != guard || (offset > 0 && packed[offset - 1] != guard)) return false;

  expected.resize(expected.size() + slack);
  bytes back(offset + count * width + 1, guard);
  if (kernels.unpack(expected.data(), marks.data() + offset, count, back.data() + offset) != kept) return false;
  return (count == 0 || std::memcmp(back.data() + offset, values, count * width) == 0) && back.back() == guard;
}

}  // namespace

TEST_CASE("zeros are marked, taken out and put in again, on every target") {
  for (const auto* kernels : cairn::detail::simd::all_zeros()) {
    for (const std::size_t width : {1U, 2U, 4U, 8U})
      for (const unsigned seed : {0U, 1U, 2U, 3U}) {
        const auto values = sparse_elements(4300, width, seed);
        CAPTURE(kernels->target, width, seed);
        std::size_t wrong = 0;
        for (std::size_t count = 0; count <= 4200; ++count)
          wrong += !takes_zeros_out_and_in(*kernels, values.data() + count % 64, count, width, count * 5 % 64);
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("an element is zero when all of its bits are") {
  const float values[] = {0.0F, -0.0F, 1e-45F, 0.0F};
  std::byte marks{};
  CHECK(cairn::detail::simd::zeros().of_width(4).mark(reinterpret_cast<const std::byte*>(values), 4, &marks) == 2);
  CHECK(marks == std::byte{6});
}
