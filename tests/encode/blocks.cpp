// SPDX-License-Identifier: MIT
#include "cairn/encode/blocks.hpp"

#include "catch.hpp"

using buffer = std::vector<std::byte>;

namespace {

constexpr std::size_t bound = 40;

std::vector<std::size_t> random_sizes(std::mt19937_64& random, std::size_t blocks) {
  std::vector<std::size_t> sizes(blocks);
  for (auto& size : sizes) size = random() % (bound + 1);
  return sizes;
}

/// Block b is the byte b, sizes[b] times.
buffer encoded(const std::vector<std::size_t>& sizes, unsigned threads) {
  const auto room = cairn::detail::blocks_bound(sizes.size(), bound);
  buffer out(room + 8, std::byte{0xEE});
  const std::size_t used =
      cairn::detail::encode_blocks(sizes.size(), bound, threads, std::span(out).first(room),
                                   [&](std::size_t block, unsigned worker, std::span<std::byte> to) {
                                     if (worker >= cairn::detail::threads_of(threads)) std::abort();
                                     if (to.size() != bound) std::abort();
                                     std::fill_n(to.begin(), sizes[block], static_cast<std::byte>(block));
                                     return sizes[block];
                                   });
  REQUIRE(used <= room);
  for (std::size_t i = room; i < out.size(); ++i) REQUIRE(out[i] == std::byte{0xEE});
  out.resize(used);
  return out;
}

template <class Decode>
bool decode_all(std::size_t blocks, std::span<const std::byte> in, unsigned threads, const Decode& decode) {
  cairn::decode_request from{};
  from.threads = threads;
  return cairn::detail::decode_blocks(blocks, {0, blocks}, in, from, decode);
}

}  // namespace

TEST_CASE("blocks lie behind their sizes, in order, whatever the number of threads") {
  std::mt19937_64 random(1);
  for (const std::size_t blocks : {0U, 1U, 2U, 3U, 7U, 60U, 300U}) {
    const auto sizes = random_sizes(random, blocks);
    buffer expected;
    for (const auto size : sizes)
      for (unsigned b = 0; b < 4; ++b) expected.push_back(static_cast<std::byte>(size >> (8 * b)));
    for (std::size_t i = 0; i < blocks; ++i) expected.insert(expected.end(), sizes[i], static_cast<std::byte>(i));
    for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
      CAPTURE(blocks, threads);
      CHECK(encoded(sizes, threads) == expected);
    }
  }
}

TEST_CASE("a block that cannot be encoded ends the work of all threads") {
  for (const unsigned threads : {1U, 2U, 8U})
    for (const std::size_t bad : {0U, 1U, 30U, 59U}) {
      buffer out(cairn::detail::blocks_bound(60, bound));
      const auto encode = [&](std::size_t block, unsigned, std::span<std::byte> /*to*/) -> std::size_t {
        if (block == bad) throw std::bad_alloc();
        return 1;
      };
      CHECK_THROWS_AS(cairn::detail::encode_blocks(60, bound, threads, out, encode), std::bad_alloc);
    }
}

TEST_CASE("every block is decoded once, from its own bytes") {
  std::mt19937_64 random(2);
  for (const std::size_t blocks : {0U, 1U, 2U, 5U, 100U}) {
    const auto sizes = random_sizes(random, blocks);
    const auto payload = encoded(sizes, 1);
    for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
      std::vector<int> seen(blocks), right(blocks);
      REQUIRE(
          decode_all(blocks, payload, threads, [&](std::size_t block, unsigned worker, std::span<const std::byte> in) {
            if (worker >= cairn::detail::threads_of(threads)) return false;
            ++seen[block];
            right[block] = in.size() == sizes[block] && std::all_of(in.begin(), in.end(), [&](std::byte byte) {
                             return byte == static_cast<std::byte>(block);
                           });
            return true;
          }));
      CHECK(seen == std::vector<int>(blocks, 1));
      CHECK(right == std::vector<int>(blocks, 1));
    }
  }
}

TEST_CASE("the wanted blocks alone are decoded and needed") {
  std::mt19937_64 random(4);
  const std::size_t blocks = 20;
  const auto sizes = random_sizes(random, blocks);
  const auto payload = encoded(sizes, 1);
  for (std::size_t first = 0; first <= blocks; ++first)
    for (std::size_t last = first; last <= blocks; ++last) {
      std::vector<int> seen(blocks), needed(payload.size());
      const std::function<void(std::size_t, std::size_t)> read = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++needed[i];
      };
      cairn::decode_request from{};
      from.payload = payload;
      from.read = &read;
      REQUIRE(cairn::detail::decode_blocks(
          blocks, {first, last}, payload, from, [&](std::size_t block, unsigned, std::span<const std::byte> in) {
            for (std::size_t i = 0; i < in.size(); ++i)
              CHECK(needed[static_cast<std::size_t>(in.data() - payload.data()) + i] == 1);
            return ++seen[block] == 1;
          }));
      std::size_t bytes = 4 * blocks;
      for (std::size_t i = 0; i < blocks; ++i) {
        CHECK(seen[i] == (first <= i && i < last ? 1 : 0));
        bytes += seen[i] == 1 ? sizes[i] : 0;
      }
      CHECK(static_cast<std::size_t>(std::count(needed.begin(), needed.end(), 1)) == bytes);
    }
}

TEST_CASE("the wanted elements lie in the wanted blocks") {
  using cairn::detail::wanted_blocks;
  for (const std::uint64_t count : {0U, 1U, 7U, 8U, 9U, 40U})
    for (std::uint64_t first = 0; first <= count + 1; ++first)
      for (std::uint64_t last = first; last <= count + 2; ++last) {
        const auto found = wanted_blocks::of({first, last}, count, 8);
        REQUIRE(found.first <= found.last);
        REQUIRE(found.last <= (count + 7) / 8);
        for (std::uint64_t i = 0; i < count; ++i)
          if (first <= i && i < last) REQUIRE((found.first <= i / 8 && i / 8 < found.last));
        if (first < std::min(last, count))
          CHECK(found.last - found.first == (std::min(last, count) - 1) / 8 - first / 8 + 1);
        if (first >= std::min(last, count)) CHECK(found.first == found.last);
      }
  CHECK(wanted_blocks::of({}, 17, 8).last == 3);
}

TEST_CASE("one block that cannot be decoded spoils all") {
  const auto payload = encoded(std::vector<std::size_t>(20, 5), 1);
  for (const unsigned threads : {1U, 3U})
    for (std::size_t bad = 0; bad < 20; ++bad)
      CHECK_FALSE(decode_all(20, payload, threads,
                             [&](std::size_t block, unsigned, std::span<const std::byte>) { return block != bad; }));
}

TEST_CASE("sizes that do not fill what is there are refused, before any block is decoded") {
  std::mt19937_64 random(3);
  const auto refused = [](std::size_t blocks, std::span<const std::byte> payload) {
    bool called = false;
    const bool good = decode_all(blocks, payload, 2, [&](std::size_t, unsigned, std::span<const std::byte>) {
      called = true;
      return true;
    });
    return !good && !called;
  };
  const auto sizes = random_sizes(random, 10);
  const auto payload = encoded(sizes, 1);
  for (std::size_t cut = 0; cut < payload.size(); ++cut) REQUIRE(refused(10, std::span(payload).first(cut)));
  auto longer = payload;
  longer.push_back(std::byte{});
  CHECK(refused(10, longer));
  for (std::size_t i = 0; i < 40; ++i) {
    auto wrong = payload;
    wrong[i] ^= static_cast<std::byte>(1U << random() % 8);
    CHECK(refused(10, wrong));
  }
  CHECK(refused(std::size_t{1} << 62, payload));
  CHECK(refused(~std::size_t{}, payload));
  CHECK(refused(1, buffer(3)));
  CHECK(refused(0, buffer(1)));
  CHECK(decode_all(0, {}, 2, [](std::size_t, unsigned, std::span<const std::byte>) { return false; }));
}
