// SPDX-License-Identifier: MIT
#include "cairn/run/shares.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::find_difference;
using cairn::detail::hashes_of;
using cairn::detail::piece;
using cairn::detail::sample_pieces;

namespace {

TEST_CASE("the samples spread over all elements, whatever the steps between saves") {
  std::mt19937_64 random(14);
  sample::leaves leaves;
  for (const std::uint64_t count : {0U, 1U, 700'000U, 3U, 250'000U})
    leaves.add("leaf" + std::to_string(count), cairn::dtype::f64, {count}, random);
  std::uint64_t total = 0;
  for (const auto& each : leaves.list) total += each.bytes();
  for (const std::uint64_t interval : {1U, 10U, 50U, 100U, 500U, 610U, 987U}) {
    INFO(interval);
    std::vector<std::vector<bool>> seen;
    for (const auto& each : leaves.list) seen.emplace_back(each.count());
    for (std::uint64_t save = 1; save <= 1000; ++save) {
      std::uint64_t bytes = 0;
      for (const auto& each : sample_pieces(leaves.list, interval * save)) {
        REQUIRE(each.first + each.count <= leaves.list[each.leaf].count());
        bytes += 8 * each.count;
        for (auto i = each.first; i < each.first + each.count; ++i) seen[each.leaf][i] = true;
      }
      REQUIRE(bytes >= 64 << 10);
      REQUIRE(bytes <= total / 100);
    }
    std::uint64_t never = 0;
    for (const auto& leaf : seen) never += static_cast<std::uint64_t>(std::count(leaf.begin(), leaf.end(), false));
    CHECK(never < total / 8 / 20);  // 0.7 % are expected
  }
}

TEST_CASE("a small state is compared whole at each step") {
  std::mt19937_64 random(15);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::f32, {100}, random);
  leaves.add("b", cairn::dtype::u8, {7}, random);
  for (std::uint64_t step = 0; step < 50; ++step) {
    std::uint64_t elements = 0;
    for (const auto& each : sample_pieces(leaves.list, step)) elements += each.count;
    CHECK(elements >= 107);
    CHECK(elements <= 109);  // the element in which it begins may be there twice
  }
  CHECK(sample_pieces({}, 7).empty());
}

TEST_CASE("the ranks that differ from most others are named, with the path") {
  std::mt19937_64 random(16);
  sample::leaves leaves;
  for (int i = 0; i < 6; ++i) leaves.add("leaf" + std::to_string(i), cairn::dtype::u16, {10}, random);
  std::vector<piece> pieces;
  for (std::size_t i = 0; i < leaves.list.size(); ++i) pieces.push_back({i, 0, 10});
  const auto hashes = hashes_of(leaves.list, pieces);
  std::vector<std::vector<std::uint64_t>> samples(5, hashes);
  CHECK(find_difference(leaves.list, pieces, samples).empty());
  ++samples[0][2];
  CHECK(find_difference(leaves.list, pieces, samples) == "leaf2 differs at rank 0");
  ++samples[3][4];
  ++samples[4][4];
  CHECK(find_difference(leaves.list, pieces, samples) == "leaf2 differs at rank 0; leaf4 differs at rank 3 4");
  const std::vector<std::vector<std::uint64_t>> two{hashes, samples[0]};
  CHECK(find_difference(leaves.list, pieces, two) == "leaf2 differs between ranks 0 1");
  samples[1].clear();  // of another program
  CHECK(
      find_difference(leaves.list, pieces, samples) ==
      "leaf0 differs at rank 1; leaf1 differs at rank 1; leaf2 differs at rank 0 1; leaf3 differs at rank 1, and more");
}

TEST_CASE("an array with two pieces in the sample, its end and its beginning, is named once") {
  std::mt19937_64 random(18);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::u8, {10}, random);
  leaves.add("b", cairn::dtype::u8, {10}, random);
  const std::vector<piece> pieces{{0, 8, 2}, {0, 0, 2}, {1, 0, 10}};
  const std::vector<std::vector<std::uint64_t>> samples{{1, 2, 3}, {1, 2, 3}, {4, 5, 6}};
  CHECK(find_difference(leaves.list, pieces, samples) == "a differs at rank 2; b differs at rank 2");
}

TEST_CASE("elements that lie apart are hashed as those that lie together") {
  std::mt19937_64 random(17);
  sample::leaves leaves;
  auto& packed = leaves.add("a", cairn::dtype::u32, {4, 6}, random);
  auto strided = packed;
  std::vector<std::byte> memory(2 * packed.bytes());
  strided.memory = memory.data();
  strided.strides = {48, 8};
  cairn::detail::scatter(strided, 0, {packed.memory, packed.bytes()});
  const std::vector<piece> pieces{{0, 0, 24}, {0, 5, 3}};
  const std::vector<cairn::detail::leaf> other{strided};
  CHECK(hashes_of(leaves.list, pieces) == hashes_of(other, pieces));
}

}  // namespace
