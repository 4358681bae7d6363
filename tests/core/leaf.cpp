// SPDX-License-Identifier: MIT
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("arrays of 2^48 bytes or fewer can be in memory") {
  const std::uint64_t large = std::uint64_t{1} << 40U;
  CHECK(cairn::is_addressable({}, 8));
  CHECK(cairn::is_addressable({large, 32}, 8));
  CHECK_FALSE(cairn::is_addressable({large, 33}, 8));
  CHECK_FALSE(cairn::is_addressable({large, large}, 1));
  CHECK(cairn::is_addressable({large, large, 0}, 1));
}

TEST_CASE("every dtype has a name that parses back and a size") {
  for (std::size_t i = 0; i < cairn::dtype_count; ++i) {
    const auto type = static_cast<cairn::dtype>(i);
    CHECK(cairn::parse_dtype(cairn::name(type)) == type);
    CHECK((cairn::size_of(type) == 1 || cairn::size_of(type) == 2 || cairn::size_of(type) == 4 ||
           cairn::size_of(type) == 8));
  }
}

TEST_CASE("names of the safetensors format, and no others, are known") {
  CHECK(cairn::parse_dtype("BF16") == cairn::dtype::bf16);
  CHECK(cairn::parse_dtype("F8_E4M3") == cairn::dtype::f8_e4m3);
  CHECK_FALSE(cairn::parse_dtype("f32"));
  CHECK_FALSE(cairn::parse_dtype("F4"));
  CHECK_FALSE(cairn::parse_dtype(""));
}

TEST_CASE("a division covers every leaf once, in order, in nearly equal shares") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto leaves = sample::random_leaves(random, 20, 300);
    const std::size_t shards = random() % 6 + 1;
    const auto division = cairn::detail::divide_evenly(leaves.list, shards);
    REQUIRE(division.size() == shards);
    std::vector<std::uint64_t> covered(leaves.list.size());
    std::vector<bool> seen(leaves.list.size());
    std::uint64_t total = 0, largest = 0;
    for (const auto& pieces : division) {
      std::uint64_t bytes = 0;
      for (const auto& piece : pieces) {
        CHECK(piece.first == covered[piece.leaf]);
        CHECK((piece.count > 0 || leaves.list[piece.leaf].count() == 0));
        covered[piece.leaf] += piece.count;
        seen[piece.leaf] = true;
        bytes += piece.count * cairn::size_of(leaves.list[piece.leaf].type);
      }
      total += bytes;
      largest = std::max(largest, bytes);
    }
    for (std::size_t i = 0; i < covered.size(); ++i) {
      CHECK(seen[i]);
      CHECK(covered[i] == leaves.list[i].count());
    }
    CHECK(largest <= total / shards + 64);
  }
}

TEST_CASE("without a number of shards, whole leaves go into shards of about 256 MiB") {
  constexpr std::uint64_t mib = 1 << 20;
  const auto shards_of = [](const std::vector<std::uint64_t>& sizes) {
    std::vector<cairn::detail::leaf> leaves(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) leaves[i].shape = {sizes[i]};
    std::vector<std::uint64_t> bytes;
    std::size_t next = 0;
    for (const auto& shard : cairn::detail::divide_evenly(leaves, 0)) {
      bytes.push_back(0);
      for (const auto& piece : shard) {
        CHECK(piece.leaf == next++);
        CHECK(piece.first == 0);
        CHECK(piece.count == sizes[piece.leaf]);
        bytes.back() += piece.count;
      }
    }
    CHECK(next == sizes.size());
    return bytes;
  };
  using all = std::vector<std::uint64_t>;
  CHECK(shards_of({}) == all{0});
  CHECK(shards_of({0, 5, 0}) == all{5});
  CHECK(shards_of({300 * mib, 100 * mib}) == all{400 * mib});
  CHECK(shards_of({300 * mib, 100 * mib, 200 * mib}) == all{300 * mib, 300 * mib});
  CHECK(shards_of({1, 5000 * mib, 1}) == all{1, 5000 * mib, 1});  // an array is not cut
  CHECK(shards_of(all(40, 100 * mib)).size() == 15);
  CHECK(shards_of(all(1000, 100 * mib)).size() == 64);
}

TEST_CASE("a division into more shards than there can be files is refused") {
  for (const std::size_t shards : {std::size_t{100'001}, SIZE_MAX}) {
    const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::divide_evenly({}, shards)); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("shards is " + std::to_string(shards)));
  }
}
