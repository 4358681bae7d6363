// SPDX-License-Identifier: MIT
#include "cairn/core/piece.hpp"

#include <random>

#include "catch.hpp"
#include "store/sample.hpp"

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

TEST_CASE("pieces that are not copied are the same pieces as another type") {
  const cairn::detail::division shards{{{0, 0, 7}, {1, 0, 2}}, {}, {{1, 2, 3}}};
  const auto staged = cairn::detail::from_leaves<cairn::detail::staged_piece>(shards);
  REQUIRE(staged.size() == shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    CHECK(std::equal(staged[i].begin(), staged[i].end(), shards[i].begin(), shards[i].end()));
    for (const auto& each : staged[i]) CHECK((each.copy == nullptr && each.room == 0));
  }
}
