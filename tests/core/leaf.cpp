// SPDX-License-Identifier: MIT
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/record_columns.hpp"

#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::columns_of;
using cairn::detail::record_columns;
using list = std::vector<record_columns>;

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

namespace {

struct point {
  float x = 0, y = 0;
};
struct particle {
  std::array<double, 3> at{};
  point spin{};
  std::uint8_t kind = 0;
};
struct wide {  // 4,096 bytes of leaves
  std::array<float, 1023> values{};
  float scale = 0;
};
struct wider {
  std::array<float, 1024> values{};
  float scale = 0;
};
struct triangle {
  float weight = 0;
  std::array<point, 3> corners{};
};
struct cloud {
  std::array<point, 1000> all{};
  float weight = 0;
};

struct state {
  std::vector<float> first = std::vector<float>(10);
  std::vector<particle> particles = std::vector<particle>(5);                         // 1 to 4
  std::vector<std::array<point, 3>> nested{4};                                        // 5, 6
  std::vector<std::tuple<int, int>> none{};                                           // 7, 8
  std::map<std::string, point> by_name{{"a", {}}, {"b", {}}};                         // 9 to 12: ends, text, x, y
  std::vector<std::array<float, 2>> alone = std::vector<std::array<float, 2>>(6);     // 13
  std::vector<std::vector<point>> two{std::vector<point>(3), std::vector<point>(3)};  // 14 to 17
  point single{};                                                                     // 18, 19
};

}  // namespace

TEST_CASE("the columns of each array of records are found") {
  const state all;
  const auto leaves = cairn::detail::describe(all).leaves;
  std::map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < leaves.size(); ++i) number[leaves[i].path] = i;
  REQUIRE(leaves.size() == 20);
  CHECK(columns_of(leaves) == list{{number["particles.at"], 4, 5},
                                   {number["nested.x"], 2, 12},
                                   {number["by_name.value.x"], 2, 2},
                                   {number["two.0.x"], 2, 3},
                                   {number["two.1.x"], 2, 3}});
}

TEST_CASE("the columns of a whole state, and none of a state without arrays of records") {
  CHECK(columns_of(cairn::detail::describe(std::vector<point>(7)).leaves) == list{{0, 2, 7}});
  CHECK(columns_of(cairn::detail::describe(point{}).leaves).empty());
  CHECK(columns_of({}).empty());
}

TEST_CASE("columns with arrays of records in them are columns of the records that all have in common") {
  CHECK(columns_of(cairn::detail::describe(std::vector<triangle>(5)).leaves) == list{{0, 3, 5}});
  struct corners_first {
    std::array<point, 3> corners{};
    float weight = 0;
  };
  CHECK(columns_of(cairn::detail::describe(std::vector<corners_first>(5)).leaves) == list{{0, 3, 5}});
}

TEST_CASE("records that are too large are no unit, but smaller ones in them are") {
  CHECK(columns_of(cairn::detail::describe(std::vector<wide>(3)).leaves) == list{{0, 2, 3}});
  CHECK(columns_of(cairn::detail::describe(std::vector<wider>(3)).leaves).empty());
  CHECK(columns_of(cairn::detail::describe(std::vector<cloud>(3)).leaves) == list{{0, 2, 3000}});
  CHECK(columns_of(cairn::detail::describe(std::vector<std::array<point, 10'000>>(2)).leaves) == list{{0, 2, 20'000}});
}

TEST_CASE("columns do not depend on addresses, nor on the size of records in memory") {
  struct pair {
    float a;
    double b;
  };
  const std::vector<pair> one(100), other(100);
  CHECK(columns_of(cairn::detail::describe(one).leaves) == columns_of(cairn::detail::describe(other).leaves));
  auto copied = cairn::detail::describe(one).leaves;  // as if each column had memory of its own
  for (auto& each : copied) each.strides.clear();
  CHECK(columns_of(copied) == list{{0, 2, 100}});
}
