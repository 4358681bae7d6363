// SPDX-License-Identifier: MIT
#include "cairn/run/shares.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::common_leaves;
using cairn::detail::common_texts;
using cairn::detail::find_difference;
using cairn::detail::hashes_of;
using cairn::detail::piece;
using cairn::detail::sample_pieces;
using cairn::detail::save_job;
using cairn::detail::separate_own;
using cairn::detail::share_planner;

namespace {

struct pair {
  float a = 0, b = 0;
};
struct columns {
  std::vector<float> a, b;
};

TEST_CASE("an array of records and an array of each field are different states, though all paths and shapes agree") {
  save_job records, arrays;
  records.what = cairn::detail::describe(std::vector<pair>(3));
  arrays.what = cairn::detail::describe(columns{{1, 2, 3}, {4, 5, 6}});
  for (auto* job : {&records, &arrays}) separate_own(*job, 0);
  CHECK(common_texts(arrays) == std::vector<std::string>{"a F32[3]", "b F32[3]"});
  CHECK(common_texts(records) == std::vector<std::string>{"a F32[3]", "b F32[3] in records"});
  CHECK(records.common_hash != arrays.common_hash);
}

using vector_pointer = std::shared_ptr<std::vector<float>>;

struct own_first {
  cairn::per_rank<vector_pointer> own;
  std::map<std::string, vector_pointer> common;
};
struct own_last {
  vector_pointer common;
  cairn::per_rank<std::vector<vector_pointer>> own;
};

TEST_CASE("an object of all ranks cannot come first in the state of one") {
  const auto separated = [](const auto& state, unsigned ranks) {
    save_job job;
    job.what = cairn::detail::describe(state, {1 % ranks, ranks});
    separate_own(job, 1 % ranks);
    return job.common_leaves;
  };
  const auto shared = std::make_shared<std::vector<float>>(3), other = std::make_shared<std::vector<float>>(4);
  const auto failure = sample::failure_of([&] { separated(own_first{{shared}, {{"a", other}, {"b", shared}}}, 2); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("common.b is the same object as own.rank1"));
  CHECK(failure.says("put it before that in the state"));
  CHECK(separated(own_first{{shared}, {{"a", other}}}, 2) == 1);
  CHECK(separated(own_first{{shared}, {{"a", other}, {"b", shared}}}, 1) == 1);  // one rank: at one path in any case
  CHECK(separated(own_last{shared, {{shared, other, other}}}, 2) == 1);
}

save_job two_leaves(std::uint64_t first, std::uint64_t second) {
  save_job job;
  auto& leaves = job.what.leaves;
  leaves.resize(2);
  leaves[0].path = "a";
  leaves[0].shape = {first};
  leaves[1].path = "b";
  leaves[1].shape = {second};
  for (auto& each : leaves) each.type = cairn::dtype::f32;
  cairn::detail::separate_own(job, 0);
  return job;
}

std::uint64_t elements_of(const cairn::plan::partition& plan, std::size_t rank) {
  std::uint64_t sum = 0;
  for (const auto& each : plan.pieces_of(rank)) sum += each.count;
  return sum;
}

TEST_CASE("shares follow the weights of the ranks, and the bytes that were stored") {
  const auto job = two_leaves(1'000'000, 1'000'000);
  share_planner planner;
  const std::uint64_t weights[] = {3, 1};
  planner.set_weights(weights);
  CHECK(elements_of(planner.fresh_plan_for(job), 0) / 100'000 == 15);

  planner.saved(job, {400'000, 3'600'000, 0, 0});  // `a` takes a tenth of its bytes
  const auto plan = planner.fresh_plan_for(job);
  CHECK(elements_of(plan, 1) / 10'000 == 27);  // a quarter of the bytes lies in the end of `b`
  CHECK(elements_of(plan, 0) + elements_of(plan, 1) == 2'000'000);

  // Other sizes: in proportion.
  const auto longer = planner.fresh_plan_for(two_leaves(2'000'000, 2'000'000));
  CHECK(elements_of(longer, 1) / 10'000 == 55);
  // Another leaf: its own bytes.
  auto other = two_leaves(1'000'000, 1'000'000);
  other.what.leaves[0].path = "c";
  cairn::detail::separate_own(other, 0);
  CHECK(elements_of(planner.fresh_plan_for(other), 1) / 10'000 == 52);  // a quarter of 4 and 3.6 million bytes
}

TEST_CASE("arrays that took no bytes, and empty ones, are in some share") {
  const auto job = two_leaves(0, 10);
  share_planner planner;
  const std::uint64_t weights[] = {1, 1, 1};
  planner.set_weights(weights);
  planner.saved(job, {0, 0, 0, 0, 0});
  std::size_t pieces = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) pieces += planner.fresh_plan_for(job).pieces_of(rank).size();
  CHECK(pieces == 2);
}

struct particle {
  std::array<float, 3> at{};
  double mass = 0;
  std::uint8_t kind = 0;
};

TEST_CASE("a rank that has more state of its own writes less of the common one, and always all of its own") {
  auto job = two_leaves(1'000'000, 1'000'000);
  share_planner planner;
  const std::uint64_t weights[] = {1, 1};
  planner.set_weights(weights);
  planner.saved(job, {4'000'000, 4'000'000, 2'000'000, 0});
  const auto plan = planner.fresh_plan_for(job);
  CHECK(elements_of(plan, 0) / 10'000 == 75);

  auto& own = job.what.leaves.emplace_back(job.what.leaves.front());
  own.path = "c.rank0";
  own.shape = {7};
  const auto share = cairn::detail::share_of(job, plan, 0);
  CHECK(share.size() == plan.pieces_of(0).size() + 1);
  CHECK(share.back() == cairn::detail::piece{2, 0, 7});
}

TEST_CASE("ranks agree on the state, the plan, and the deltas that are not merged") {
  const auto job = two_leaves(100'000, 100'000), other = two_leaves(100'000, 100'001);
  share_planner planner, uneven;
  const std::uint64_t weights[] = {1, 1}, other_weights[] = {1, 2};
  planner.set_weights(weights);
  uneven.set_weights(other_weights);
  const auto hash = cairn::detail::agreement_hash(job, planner.fresh_plan_for(job), 3);
  CHECK(hash > 1);
  CHECK(cairn::detail::agreement_hash(job, planner.fresh_plan_for(job), 3) == hash);
  CHECK(cairn::detail::agreement_hash(other, planner.fresh_plan_for(job), 3) != hash);
  CHECK(cairn::detail::agreement_hash(job, uneven.fresh_plan_for(job), 3) != hash);
  CHECK(cairn::detail::agreement_hash(job, planner.fresh_plan_for(job), 4) != hash);
}

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
