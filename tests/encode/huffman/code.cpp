// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/huffman/counts.hpp"

#include "catch.hpp"

using namespace cairn::detail::huffman;
using cairn::code_lengths;

namespace {

byte_counts random_counts(std::mt19937_64& random) {
  byte_counts counts{};
  const std::size_t symbols = random() % 256 + 1;
  const unsigned width = static_cast<unsigned>(random() % 40 + 1);
  for (std::size_t i = 0; i < symbols; ++i) counts[random() % 256] = random() >> (64 - random() % width - 1);
  return counts;
}

std::size_t symbols_of(const byte_counts& counts) {
  return static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](auto count) { return count != 0; }));
}

/// In units of a code of 12 bits.
std::uint64_t kraft(const code_lengths& lengths) {
  std::uint64_t sum = 0;
  for (const auto length : lengths)
    if (length != 0) sum += std::uint64_t{4096} >> length;
  return sum;
}

TEST_CASE("every symbol that occurs gets a code, the codes are complete, and rarer symbols do not have shorter ones") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto counts = random_counts(random);
    const unsigned limit = static_cast<unsigned>(random() % 14);
    const auto lengths = find_code_lengths(counts, limit);
    REQUIRE(lengths == find_code_lengths(counts, limit));
    const auto symbols = symbols_of(counts);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      REQUIRE((lengths[s] != 0) == (counts[s] != 0));
      REQUIRE(lengths[s] <= std::clamp<std::size_t>(limit, static_cast<std::size_t>(std::bit_width(symbols)), 12));
      const auto other = random() % 256;
      if (lengths[s] != 0 && counts[other] > counts[s]) REQUIRE(lengths[other] <= lengths[s]);
    }
    REQUIRE(is_complete(lengths) == (symbols > 0));
    if (symbols > 1) REQUIRE(kraft(lengths) == 4096);
  }
}

TEST_CASE("small alphabets") {
  byte_counts counts{};
  CHECK(find_code_lengths(counts) == code_lengths{});
  counts[7] = 5;
  code_lengths one{};
  one[7] = 1;
  CHECK(find_code_lengths(counts) == one);
  counts[200] = 5000;
  one[200] = 1;
  CHECK(find_code_lengths(counts) == one);
  counts.fill(3);
  code_lengths flat{};
  flat.fill(8);
  CHECK(find_code_lengths(counts) == flat);
  CHECK(find_code_lengths(counts, 1) == flat);
}

TEST_CASE("what is not a complete code of at most 12 bits") {
  code_lengths lengths{};
  CHECK_FALSE(is_complete(lengths));
  lengths[9] = 2;  // one symbol has one bit
  CHECK_FALSE(is_complete(lengths));
  lengths[9] = 1;
  CHECK(is_complete(lengths));
  lengths[10] = 2;  // a quarter is missing
  CHECK_FALSE(is_complete(lengths));
  lengths[11] = 2;
  CHECK(is_complete(lengths));
  lengths[12] = 12;  // too many
  CHECK_FALSE(is_complete(lengths));
  lengths.fill(0);
  for (std::uint8_t s = 0; s < 13; ++s) lengths[s] = std::uint8_t(s + 1);
  lengths[13] = 13;
  CHECK_FALSE(is_complete(lengths));
  lengths[12] = 0;
  lengths[13] = 0;
  lengths[11] = 11;
  CHECK(is_complete(lengths));
  lengths[11] = 12;
  CHECK_FALSE(is_complete(lengths));
  lengths[12] = 12;
  CHECK(is_complete(lengths));
  for (const int wrong : {32, 33, 64, 128, 255}) {
    lengths[200] = static_cast<std::uint8_t>(wrong);
    CHECK_FALSE(is_complete(lengths));
  }
}

TEST_CASE("coded bits are counted, and a symbol without code is seen") {
  byte_counts counts{};
  counts[1] = 10, counts[2] = 3;
  code_lengths lengths{};
  lengths[1] = 1, lengths[2] = 2, lengths[3] = 2;
  CHECK(coded_bits(counts, lengths) == 16);
  counts[4] = 1;
  CHECK(coded_bits(counts, lengths) == ~std::uint64_t{});
}

TEST_CASE("canonical codes are in order, and none is the beginning of another") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto lengths = find_code_lengths(random_counts(random));
    const auto codes = canonical_codes(lengths);
    // As numbers whose first bit is the highest of 12, by length and symbol: from 0 without gaps.
    std::uint32_t next = 0;
    for (unsigned length = 1; length <= 12; ++length)
      for (std::size_t s = 0; s < 256; ++s) {
        if (lengths[s] != length) continue;
        std::uint32_t code = 0;
        for (unsigned bit = 0; bit < length; ++bit) code |= (codes[s] >> bit & 1U) << (11 - bit);
        REQUIRE(codes[s] >> length == 0);
        REQUIRE(code == next);
        next += 4096U >> length;
      }
  }
}

TEST_CASE("lengths are read as they were written") {
  std::mt19937_64 random(4);
  std::size_t longest = 0;
  for (int round = 0; round < 3000; ++round) {
    auto counts = random_counts(random);
    if (round % 2 == 0) {  // few symbols, close together or far apart
      counts.fill(0);
      const std::size_t step = random() % 60 + 1, begin = random() % 100;
      for (std::size_t s = begin; s < 256; s += step) counts[s] = random() % 1000;
      counts[random() % 256] = 1;
    }
    const auto lengths = find_code_lengths(counts);
    if (!is_complete(lengths)) continue;
    std::vector<std::byte> text(code_lengths_bound);
    const auto bytes = write_code_lengths(lengths, text);
    REQUIRE(bytes <= text.size());
    longest = std::max(longest, bytes);
    text.resize(bytes);
    code_lengths back;
    back.fill(9);
    REQUIRE(read_code_lengths(text, back) == bytes);
    REQUIRE(back == lengths);
    // What follows is not looked at; nothing that is cut off can be read.
    text.push_back(static_cast<std::byte>(random()));
    REQUIRE(read_code_lengths(text, back) == bytes);
    const auto cut = random() % bytes;
    const std::vector<std::byte> shorter(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut));
    REQUIRE(read_code_lengths(shorter, back) == 0);
  }
  CHECK(longest > 100);
}

TEST_CASE("the largest texts of lengths") {
  for (const std::size_t last : {1U, 7U, 254U, 255U}) {
    // No run anywhere: lengths take turns, and the longest ones fill up.
    byte_counts counts{};
    for (std::size_t s = 0; s <= last; ++s) counts[s] = s % 2 == 0 ? 1000 : 1;
    const auto lengths = find_code_lengths(counts);
    std::array<std::byte, code_lengths_bound> text{};
    const auto bytes = write_code_lengths(lengths, text);
    CHECK(bytes == 2 + (last + 2) / 2);
    code_lengths back{};
    CHECK(read_code_lengths(text, back) == bytes);
    CHECK(back == lengths);
  }
  // One run of zeros for all between.
  code_lengths ends{};
  ends[0] = ends[255] = 1;
  std::array<std::byte, code_lengths_bound> text{};
  CHECK(write_code_lengths(ends, text) == 5);
  code_lengths back{};
  CHECK(read_code_lengths(text, back) == 5);
  CHECK(back == ends);
}

TEST_CASE("texts of lengths that mean nothing are refused") {
  const auto read = [](std::initializer_list<int> bytes) {
    std::vector<std::byte> text;
    for (const int byte : bytes) text.push_back(static_cast<std::byte>(byte));
    code_lengths lengths;
    return read_code_lengths(text, lengths);
  };
  CHECK(read({3, 4, 0x11}) == 3);
  CHECK(read({3, 3, 0x01}) == 3);
  CHECK(read({}) == 0);
  CHECK(read({3}) == 0);
  CHECK(read({3, 4}) == 0);
  CHECK(read({4, 3, 0x11}) == 0);        // ends before it begins
  CHECK(read({3, 3, 0x11}) == 0);        // the half byte that is left over is not 0
  CHECK(read({3, 4, 0x21}) == 0);        // incomplete
  CHECK(read({3, 5, 0x11, 0x01}) == 0);  // more than complete
  CHECK(read({0, 7, 0xD3, 0x04}) == 4);  // 3 bits and 7 times the same
  CHECK(read({0, 7, 0xD3, 0x03}) == 0);  // 6 times, and no code: incomplete
  CHECK(read({0, 7, 0xD3, 0x33}) == 4);  // 6 times, and one more
  CHECK(read({0, 6, 0xD3, 0x04}) == 0);  // 7 times where there is room for 6
  CHECK(read({0, 3, 0xD2, 0x00}) == 4);  // four times
  CHECK(read({0, 3, 0xD2, 0x01}) == 0);  // five times where there is room for four
  CHECK(read({3, 8, 0xE1, 0x11}) == 4);  // zeros between
  CHECK(read({3, 7, 0xE1, 0x11}) == 0);  // more of them than there is room for
}

TEST_CASE("any bytes read as lengths give a complete code or nothing") {
  std::mt19937_64 random(5);
  std::array<std::byte, 140> text;
  for (int round = 0; round < 20000; ++round) {
    for (auto& byte : text) byte = static_cast<std::byte>(random());
    code_lengths lengths;
    const auto bytes = read_code_lengths(std::span(text).first(random() % text.size()), lengths);
    if (bytes != 0) REQUIRE(is_complete(lengths));
  }
}

TEST_CASE("every byte is counted once") {
  std::mt19937_64 random(1);
  for (std::size_t n = 0; n < 400; ++n) {
    const std::size_t offset = random() % 16;
    std::vector<std::byte> bytes(offset + n);
    const unsigned kinds = static_cast<unsigned>(random() % 256 + 1);
    byte_counts expected{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(random() % kinds);
      if (i >= offset) ++expected[std::to_integer<std::size_t>(bytes[i])];
    }
    REQUIRE(count_bytes(std::span(bytes).subspan(offset)) == expected);
  }
}

using weights = std::vector<std::uint64_t>;

weights random_weights(std::mt19937_64& random, std::size_t n) {
  weights sorted(n);
  const unsigned width = static_cast<unsigned>(random() % 30);
  for (auto& weight : sorted) weight = (random() >> (63 - random() % (width + 1))) + 1;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::uint64_t cost(const weights& of, const weights& depths) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < of.size(); ++i) sum += of[i] * depths[i];
  return sum;
}

/// The least cost of a tree not deeper than `limit`, by merging packages (Larmore and Hirschberg, 1990).
std::uint64_t least_cost(const weights& of, unsigned limit) {
  weights level;
  for (unsigned d = 0; d < limit; ++d) {
    weights next = of;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
    std::sort(next.begin(), next.end());
    level = next;
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 2 * of.size() - 2; ++i) sum += level[i];
  return sum;
}

/// Kraft's sum in units of 2^-64; 0 stands for 1.
std::uint64_t kraft(const weights& depths) {
  std::uint64_t sum = 0;
  for (const auto depth : depths) sum += std::uint64_t{1} << (64 - depth);
  return sum;
}

}  // namespace

TEST_CASE("depths are those of a best tree") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto of = random_weights(random, random() % (round % 20 == 0 ? 255 : 20) + 2);
    auto depths = of;
    find_depths(depths);
    REQUIRE(kraft(depths) == 0);
    REQUIRE(std::is_sorted(depths.rbegin(), depths.rend()));
    REQUIRE(cost(of, depths) == least_cost(of, 40));
  }
}

TEST_CASE("limited depths fill the tree, and cost next to nothing above the least") {
  std::mt19937_64 random(3);
  double worst = 0, sum = 0;
  int limited = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto of = random_weights(random, random() % (round % 20 == 0 ? 255 : 30) + 2);
    const auto least = static_cast<unsigned>(std::bit_width(of.size() - 1));
    const unsigned limit = least + static_cast<unsigned>(random() % (13 - least));
    auto depths = of;
    find_depths(depths);
    const auto before = depths;
    limit_depths(depths, of, limit);
    REQUIRE(kraft(depths) == 0);
    REQUIRE(depths[0] <= limit);
    REQUIRE(std::is_sorted(depths.rbegin(), depths.rend()));
    if (before[0] <= limit) {
      REQUIRE(depths == before);
      continue;
    }
    const double ratio = static_cast<double>(cost(of, depths)) / static_cast<double>(least_cost(of, limit));
    REQUIRE(ratio >= 1);
    worst = std::max(worst, ratio);
    sum += ratio;
    ++limited;
  }
  CAPTURE(worst, sum / limited);
  CHECK(limited > 300);
  CHECK(worst < 1.15);
  CHECK(sum / limited < 1.01);
}
