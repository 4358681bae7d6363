// SPDX-License-Identifier: MIT
#include "cairn/run/staging.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "cairn/plan/record_columns.hpp"
#include "cairn/plan/partition.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "trainer.hpp"

using cairn::detail::staging;

namespace {

/// All elements of a piece, from its copy if it has one.
std::vector<std::byte> values_of(const std::vector<cairn::detail::leaf>& leaves,
                                 const cairn::detail::staged_piece& each) {
  const auto& whole = leaves[each.leaf];
  std::vector<std::byte> values(each.count * cairn::size_of(whole.type));
  if (each.copy != nullptr)
    std::memcpy(values.data(), each.copy, values.size());
  else
    cairn::detail::gather(whole, each.first, values);
  return values;
}

cairn::detail::shards_of<cairn::detail::planned_copy> plan(const staging& copies,
                                                           const std::vector<cairn::detail::leaf>& leaves,
                                                           std::size_t shards) {
  return cairn::detail::plan_staging(copies, leaves, shards, std::nullopt).shards;
}

}  // namespace

TEST_CASE("pieces are copied, whatever they are, however they are cut, by any number of threads") {
  tests::random_states states(5);
  std::mt19937 random(6);
  staging copies([](const cairn::detail::leaf& whole, std::size_t bytes) {
    return whole.type == cairn::dtype::f32 ? bytes / 7 : 0;
  });
  for (int round = 0; round < 30; ++round) {
    auto state = states.next();
    state.examples.resize(random() % 30'000);
    state.mask.resize(random() % 3'000'000);
    const auto leaves = cairn::detail::describe(state).leaves;
    const auto plan = cairn::detail::plan_staging(copies, leaves, 1 + random() % 4, std::nullopt);
    const auto shards = copies.copy(leaves, plan.shards, static_cast<unsigned>(round % 4));
    CHECK(copies.capacity() >= plan.bytes);
    std::uint64_t bytes = 0;
    REQUIRE(shards.size() == plan.shards.size());
    std::map<const std::byte*, const std::byte*> used;  // from, to
    for (std::size_t i = 0; i < shards.size(); ++i) {
      REQUIRE(shards[i].size() == plan.shards[i].size());
      for (std::size_t j = 0; j < shards[i].size(); ++j) {
        const auto& each = shards[i][j];
        const cairn::detail::piece& planned = plan.shards[i][j];
        CHECK(static_cast<const cairn::detail::piece&>(each) == planned);
        INFO(leaves[each.leaf].path);
        CHECK(values_of(leaves, each) == values_of(leaves, {planned}));
        if (each.copy == nullptr) {
          CHECK((each.count == 0 || leaves[each.leaf].owner != nullptr));
          continue;
        }
        const auto size = each.count * cairn::size_of(leaves[each.leaf].type);
        bytes += size;
        CHECK(each.room >= (leaves[each.leaf].type == cairn::dtype::f32 ? size / 7 : 0));
        CHECK(reinterpret_cast<std::uintptr_t>(each.copy) %
                  (each.room != 0 ? 64 : cairn::size_of(leaves[each.leaf].type)) ==
              0);
        used.emplace(each.copy - each.room, each.copy + size);
      }
    }
    CHECK(bytes <= plan.bytes);
    const std::byte* end = used.empty() ? nullptr : used.begin()->first;
    for (const auto& [from, to] : used) {  // no piece's room is another's
      CHECK(from >= end);
      end = to;
    }
  }
}

struct point {
  float x = 0, y = 0;
};
struct particle {
  std::array<double, 3> at{};
  std::array<point, 2> ends{};
  std::array<int, 0> nothing{};
  std::uint8_t kind = 0;
};

TEST_CASE("columns of records are copied, whatever parts of them a shard has") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    struct {
      std::vector<float> before = std::vector<float>(100);
      std::vector<particle> some;
      std::vector<std::array<point, 3>> rows;
      std::map<int, point> sorted{{1, {2, 3}}, {2, {4, 5}}};  // a copy already
    } state;
    state.some.resize(random() % 40'000);
    state.rows.resize(random() % 40'000);
    for (auto& each : state.some)
      each = {{1.0 / static_cast<double>(random()), 2, 3}, {{{4, 5}, {6, static_cast<float>(random())}}}, {}, 7};
    for (auto& each : state.rows) each[random() % 3] = {1, static_cast<float>(random())};
    const auto leaves = cairn::detail::describe(state).leaves;
    // Shards of a plan, which cuts at records, of pieces that are cut anywhere, or of as many records and a part of
    // one.
    auto cut = cairn::plan::partition(cairn::plan::sizes_of(leaves), std::vector<cairn::plan::rank_load>(3),
                                      cairn::detail::columns_of(leaves))
                   .pieces();
    for (auto& shard : cut)
      for (auto& each : shard) {
        const auto& whole = leaves[each.leaf];
        const auto width = whole.shape.empty() ? 1 : whole.count() / std::max<std::uint64_t>(whole.shape[0], 1);
        if (round % 4 == 2 && each.count > width) each.count -= width - random() % std::max<std::uint64_t>(width, 1);
        if (round % 2 == 0 || each.count == 0 || random() % 3 == 0) continue;
        const auto skipped = random() % each.count;
        each.first += skipped;
        each.count -= skipped;
        each.count -= random() % each.count;
      }
    staging copies([](const cairn::detail::leaf&, std::size_t) { return 10; });
    cairn::detail::shards_of<cairn::detail::planned_copy> planned;
    for (const auto& shard : cut) planned.push_back(copies.plan(leaves, shard));
    const auto shards = copies.copy(leaves, planned, static_cast<unsigned>(round % 3));
    for (std::size_t i = 0; i < cut.size(); ++i)
      for (std::size_t j = 0; j < cut[i].size(); ++j) {
        const auto& whole = leaves[cut[i][j].leaf];
        INFO(round << " " << whole.path);
        CHECK((shards[i][j].copy != nullptr) == (cut[i][j].count > 0 && whole.owner == nullptr));
        CHECK(values_of(leaves, shards[i][j]) == values_of(leaves, {cut[i][j]}));
      }
  }
}

TEST_CASE("what is stored as it is lies as in the file: each copy at the same place in a page, and neighbours adjoin") {
  std::mt19937_64 random(8);
  const staging::room_rule room = [](const cairn::detail::leaf& whole, std::size_t bytes) {
    return whole.path.ends_with("0") ? bytes / 5 : 0;  // encoded in place: not stored as it is
  };
  for (int round = 0; round < 40; ++round) {
    auto all = sample::random_leaves(random, 30, 5000);
    const auto memory = all;  // keeps the elements of the leaves that lose their owner
    for (auto& each : all.list)
      if (random() % 4 != 0) each.owner.reset();  // else it is not copied
    staging copies(room);
    const auto plan = cairn::detail::plan_staging(copies, all.list, 1 + random() % 3, std::nullopt);
    for (const auto& shard : copies.copy(all.list, plan.shards, 2)) {
      std::vector<cairn::detail::write_piece> pieces;
      for (const auto& each : shard) {
        if (each.room != 0) continue;
        const auto bytes = each.count * cairn::size_of(all.list[each.leaf].type);
        pieces.push_back({each, {each.copy, each.copy == nullptr ? 0 : bytes}});
      }
      const auto file = cairn::detail::lay_out_shard(all.list, pieces, 1);
      for (std::size_t i = 0; i < file.pieces.size(); ++i) {
        const auto& at = file.header.tensors[i];
        const auto* const copy = file.pieces[i].bytes.data();
        if (copy == nullptr) continue;
        const auto is_in_place = [&](std::size_t piece) {
          const auto address = reinterpret_cast<std::uintptr_t>(file.pieces[piece].bytes.data());
          return address != 0 && (address - file.header.tensors[piece].begin) % 4096 == 0;
        };
        CHECK((is_in_place(i) || at.end - at.begin < 4096));
        if (i > 0 && is_in_place(i - 1))
          CHECK(copy == file.pieces[i - 1].bytes.data() + file.pieces[i - 1].bytes.size());
      }
    }
  }
}

TEST_CASE("the memory is reused for the next copy, and grows if that is larger") {
  staging copies([](const cairn::detail::leaf&, std::size_t) { return 0; });
  CHECK(copies.capacity() == 0);
  copies.reserve(100, 1);
  const auto small = copies.capacity();
  CHECK(small >= 100);
  copies.reserve(50, 2);
  CHECK(copies.capacity() == small);
  copies.reserve(10'000'000, 2);
  CHECK(copies.capacity() >= 10'000'000);
  CHECK(copies.capacity() < 10'000'000 + cairn::detail::huge_page_bytes);

  std::vector<float> values(1000, 1.0F);
  const auto leaves = cairn::detail::describe(values).leaves;
  const auto planned = plan(copies, leaves, 1);
  const auto first = copies.copy(leaves, planned, 1), second = copies.copy(leaves, planned, 1);
  REQUIRE(first[0][0].copy != nullptr);
  CHECK(first[0][0].copy == second[0][0].copy);
}

TEST_CASE("a state without elements takes no memory") {
  staging copies([](const cairn::detail::leaf&, std::size_t) { return 0; });
  const std::vector<float> none;
  const auto leaves = cairn::detail::describe(none).leaves;
  const auto shards = copies.copy(leaves, plan(copies, leaves, 1), 0);
  for (const auto& each : shards[0]) CHECK(each.copy == nullptr);
  CHECK(copies.capacity() == 0);
}

TEST_CASE("a plan keeps to its budget, whatever the state") {
  tests::random_states states(9);
  const staging copies([](const cairn::detail::leaf&, std::size_t bytes) { return bytes / 5; });
  for (int round = 0; round < 20; ++round) {
    auto state = states.next();
    state.table.resize({10, 10'000});
    state.examples.resize(1'000);
    const auto leaves = cairn::detail::describe(state).leaves;
    const auto whole = cairn::detail::plan_staging(copies, leaves, 3, 100U << 20U);
    CHECK_FALSE(whole.in_parts);
    std::uint64_t whole_bytes = 0;
    const auto division = cairn::detail::divide_evenly(leaves, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(whole.shards.at(i) == copies.plan(leaves, division[i]));
      whole_bytes += staging::bytes_for(leaves, whole.shards[i]);
    }
    CHECK(whole.bytes == whole_bytes);
    for (const std::uint64_t budget : {400'000U, 50'000U, 5'000U}) {
      const auto plan = cairn::detail::plan_staging(copies, leaves, 1, budget);
      CHECK(plan.in_parts);
      CHECK(plan.bytes <= budget);
      std::uint64_t count = 0, expected = 0;
      for (const auto& leaf : leaves) expected += leaf.count();
      for (const auto& shard : plan.shards) {
        CHECK(staging::bytes_for(leaves, shard) <= plan.bytes);
        for (const auto& each : shard) count += each.count;
      }
      CHECK(count == expected);
    }
  }
  const std::vector<float> many(1'000'000);
  const auto leaves = cairn::detail::describe(many).leaves;
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::plan_staging(copies, leaves, 1, 40)); }).code ==
        cairn::errc::invalid);
}

TEST_CASE("any length at any address is copied, and nothing around it") {
  std::mt19937_64 random(1);
  std::vector<std::byte> from(100'000), to(from.size());
  for (auto& b : from) b = static_cast<std::byte>(random());
  for (int round = 0; round < 1000; ++round) {
    const std::size_t at = random() % 200, source = random() % 200;
    const std::size_t length = random() % 2 ? random() % 99'000 : random() % 300;
    to.assign(to.size(), std::byte{1});
    cairn::detail::stream_copy(to.data() + at, from.data() + source, length);
    for (std::size_t i = 0; i < at; ++i) REQUIRE(to[i] == std::byte{1});
    REQUIRE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(at),
                       to.begin() + static_cast<std::ptrdiff_t>(at + length),
                       from.begin() + static_cast<std::ptrdiff_t>(source)));
    for (std::size_t i = at + length; i < at + length + 200 && i < to.size(); ++i) REQUIRE(to[i] == std::byte{1});
  }
}
