#include "cairn/run/staging.hpp"

#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "trainer.hpp"

using cairn::staging;

namespace {

/// All elements of a piece as the stages behind see them.
std::vector<std::byte> values_of(const std::vector<cairn::leaf>& leaves, const cairn::piece& each) {
  const auto& whole = leaves[each.leaf];
  std::vector<std::byte> values(each.count * cairn::size_of(whole.type));
  if (each.staged != nullptr)
    std::memcpy(values.data(), each.staged, values.size());
  else
    cairn::gather(whole, each.first, values);
  return values;
}

}  // namespace

TEST_CASE("pieces are copied, whatever they are, however they are cut, by any number of threads") {
  tests::random_states states(5);
  std::mt19937 random(6);
  staging copies(
      [](const cairn::leaf& whole, std::size_t bytes) { return whole.type == cairn::dtype::f32 ? bytes / 7 : 0; });
  for (int round = 0; round < 30; ++round) {
    auto state = states.next();
    state.examples.resize(random() % 30'000);
    state.mask.resize(random() % 3'000'000);
    const auto leaves = cairn::describe(state).leaves;
    auto shards = cairn::divide_evenly(leaves, 1 + random() % 4);
    auto before = shards;
    const auto expected = copies.make_room(leaves, shards);
    const auto copied = copies.copy(leaves, shards, static_cast<unsigned>(round % 4));
    CHECK(copied <= expected);
    CHECK(copies.capacity() >= expected);
    std::uint64_t bytes = 0;
    const std::byte* end = nullptr;
    for (std::size_t i = 0; i < shards.size(); ++i)
      for (std::size_t j = 0; j < shards[i].size(); ++j) {
        const auto& each = shards[i][j];
        INFO(leaves[each.leaf].path);
        CHECK(values_of(leaves, each) == values_of(leaves, before[i][j]));
        if (each.staged == nullptr) {
          CHECK((each.count == 0 || leaves[each.leaf].owner != nullptr));
          continue;
        }
        const auto size = each.count * cairn::size_of(leaves[each.leaf].type);
        bytes += size;
        CHECK(each.room >= (leaves[each.leaf].type == cairn::dtype::f32 ? size / 7 : 0));
        CHECK(reinterpret_cast<std::uintptr_t>(each.staged) % 64 == 0);
        CHECK((end == nullptr || each.staged - each.room >= end));  // no piece's room is another's
        end = each.staged + size;
      }
    CHECK(bytes == copied);
  }
}

TEST_CASE("the memory is kept for the next copy, and grows when it has to") {
  staging copies([](const cairn::leaf&, std::size_t) { return 0; });
  CHECK(copies.capacity() == 0);
  copies.reserve(100, 1);
  const auto small = copies.capacity();
  CHECK(small >= 100);
  copies.reserve(50, 2);
  CHECK(copies.capacity() == small);
  copies.reserve(10'000'000, 2);
  CHECK(copies.capacity() >= 10'000'000);
  CHECK(copies.capacity() < 10'000'000 + cairn::huge_page_bytes);

  std::vector<float> values(1000, 1.0F);
  const auto leaves = cairn::describe(values).leaves;
  auto first = cairn::divide_evenly(leaves, 1), second = first;
  copies.copy(leaves, first, 1);
  copies.copy(leaves, second, 1);
  CHECK(first[0][0].staged == second[0][0].staged);
}

TEST_CASE("leaves that are copies already are not copied again") {
  struct {
    std::set<int> sorted{3, 1, 2};
    std::mt19937 engine;
    std::vector<float> values = std::vector<float>(100, 1.0F);
  } state;
  staging copies([](const cairn::leaf&, std::size_t) { return 0; });
  const auto leaves = cairn::describe(state).leaves;
  auto shards = cairn::divide_evenly(leaves, 1);
  CHECK(copies.copy(leaves, shards, 1) == 400);
  for (const auto& each : shards[0]) CHECK((each.staged != nullptr) == (leaves[each.leaf].path == "values"));
}

TEST_CASE("nothing at all") {
  staging copies([](const cairn::leaf&, std::size_t) { return 0; });
  const std::vector<float> none;
  const auto leaves = cairn::describe(none).leaves;
  auto shards = cairn::divide_evenly(leaves, 1);
  CHECK(copies.copy(leaves, shards, 0) == 0);
  CHECK(copies.capacity() == 0);
}

TEST_CASE("a plan keeps to its budget, whatever the state") {
  tests::random_states states(9);
  const staging copies([](const cairn::leaf&, std::size_t bytes) { return bytes / 5; });
  for (int round = 0; round < 20; ++round) {
    auto state = states.next();
    state.table.resize({10, 10'000});
    state.examples.resize(1'000);
    const auto leaves = cairn::describe(state).leaves;
    const auto whole = cairn::plan_staging(copies, leaves, 3, 100U << 20U);
    CHECK_FALSE(whole.in_parts);
    auto expected_shards = cairn::divide_evenly(leaves, 3);
    CHECK(whole.bytes == copies.make_room(leaves, expected_shards));
    CHECK(whole.shards == expected_shards);
    for (const std::uint64_t budget : {400'000U, 50'000U, 5'000U}) {
      auto plan = cairn::plan_staging(copies, leaves, 1, budget);
      CHECK(plan.in_parts);
      CHECK(plan.bytes <= budget);
      std::uint64_t count = 0, expected = 0;
      for (const auto& leaf : leaves) expected += leaf.count();
      for (auto& shard : plan.shards) {
        CHECK(copies.make_room(leaves, {&shard, 1}) <= plan.bytes);
        for (const auto& each : shard) count += each.count;
      }
      CHECK(count == expected);
    }
  }
  const std::vector<float> many(1'000'000);
  const auto leaves = cairn::describe(many).leaves;
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::plan_staging(copies, leaves, 1, 40)); }).code ==
        cairn::errc::invalid);
}
