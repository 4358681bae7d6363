// SPDX-License-Identifier: MIT
#include "cairn/state/words.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace rows_with_skips {

struct plain_row {
  int id = 0;
  float weight = 0;
};
/// As plain_row, with members that are not state.
struct row {
  int id = 0;
  cairn::skip<int> cache{-1};
  float weight = 0;
};
struct row_with_pointer {
  int id = 0;
  float weight = 0;
  float* memory = nullptr;
  cairn::skip<std::vector<int>> recent;
  using cairn_skip = cairn::names<"memory">;
};
struct locked {
  std::mutex lock;
  cairn::skip<std::mutex> other;
  int value = 0;
  std::string name;
  using cairn_skip = cairn::names<"lock">;
};

}  // namespace rows_with_skips

namespace {

using namespace rows_with_skips;

template <class Row>
std::vector<Row> some_rows(std::size_t count) {
  std::vector<Row> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i].id = static_cast<int>(i * i);
    rows[i].weight = static_cast<float>(i) / 2;
  }
  return rows;
}

template <class Row>
bool equal(const Row& a, const Row& b) {
  return a.id == b.id && a.weight == b.weight;
}

}  // namespace

TEST_CASE("a skipped member acts as its value") {
  cairn::skip<std::vector<int>> cache;
  cache = std::vector<int>{1, 2};
  cache->push_back(3);
  const std::vector<int>& all = cache;
  CHECK(all.size() == 3);
  CHECK((*cache)[2] == 3);
  const auto copy = cache;
  CHECK(copy->size() == 3);
  cairn::skip<std::mutex> mutex;
  const std::lock_guard<std::mutex> guard(mutex);
  STATIC_REQUIRE(std::is_trivially_copyable_v<cairn::skip<int>>);
}

TEST_CASE("skipped members are in no checkpoint, and a load leaves them as they are") {
  locked original;
  original.value = 7;
  original.name = "a";
  const tests::kept kept(original);
  CHECK(kept.paths() == "name value");
  locked fresh;
  kept.load(fresh);
  CHECK(fresh.value == 7);
  CHECK(fresh.name == "a");

  float memory = 0;
  row_with_pointer with_pointer{3, 0.5F, &memory, {{1, 2}}};
  const tests::kept pointers(with_pointer);
  CHECK(pointers.paths() == "id weight");
  float other = 0;
  row_with_pointer into{0, 0, &other, {{5}}};
  pointers.load(into);
  CHECK(equal(into, with_pointer));
  CHECK(into.memory == &other);
  CHECK(into.recent.value == std::vector<int>{5});
}

TEMPLATE_TEST_CASE("vectors of records with skipped members are the columns of the others", "", row, row_with_pointer) {
  for (const std::size_t size : {0U, 1U, 5U, 30000U}) {
    const auto original = some_rows<TestType>(size);
    const tests::kept kept(original);
    CHECK(kept.paths() == "id weight");
    if (size < 10) CHECK(kept == tests::kept(some_rows<plain_row>(size)));
    for (const std::size_t before : {0U, 3U, 40000U}) {
      auto fresh = some_rows<TestType>(before);
      for (auto& each : fresh) {
        if constexpr (std::is_same_v<TestType, row>)
          each.cache = 77;
        else
          each.recent->assign(2, 77);
      }
      kept.load(fresh);
      REQUIRE(fresh.size() == size);
      for (std::size_t i = 0; i < size; ++i) {
        REQUIRE(equal(fresh[i], original[i]));
        if constexpr (std::is_same_v<TestType, row>)
          REQUIRE(*fresh[i].cache == (i < before ? 77 : -1));
        else
          REQUIRE(fresh[i].recent->size() == (i < before ? 2U : 0U));
      }
    }
  }
}

TEMPLATE_TEST_CASE("other containers of records with skipped members come back", "", row, row_with_pointer) {
  struct containers {
    std::deque<TestType> deque;
    std::map<int, TestType> map;
    std::map<std::string, std::vector<TestType>> named;
    std::array<TestType, 2> array;
    TestType built_in[3];
    std::optional<TestType> optional;
    std::pair<TestType, int> pair;
    std::vector<std::array<TestType, 2>> nested;
    std::vector<cairn::skip<int>> all_skipped;
  };
  const auto rows = some_rows<TestType>(5);
  containers original;
  original.deque.assign(rows.begin(), rows.end());
  original.map = {{4, rows[1]}, {1, rows[2]}};
  original.named["a"] = rows;
  original.array = {rows[1], rows[2]};
  original.built_in[2] = rows[4];
  original.optional = rows[3];
  original.pair = {rows[2], 5};
  original.nested = {{rows[1], rows[2]}, {rows[3], rows[4]}};
  original.all_skipped.resize(100);
  containers fresh;
  fresh.deque.resize(2);
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(fresh.deque.size() == 5);
  CHECK(equal(fresh.deque[4], rows[4]));
  CHECK(equal(fresh.map.at(1), rows[2]));
  CHECK(equal(fresh.nested[1][1], rows[4]));
  CHECK(fresh.all_skipped.size() == 100);
}

TEST_CASE("elements of a deque or a map keep their skipped members") {
  struct rows {
    std::deque<row> list;
    std::map<int, row> map;
  };
  rows original{{{1, {}, 2}, {3, {}, 4}}, {{1, {5, {}, 6}}}};
  rows fresh{{{0, {8}, 0}}, {{1, {0, {9}, 0}}}};
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(*fresh.list[0].cache == 8);
  CHECK(*fresh.list[1].cache == -1);
  CHECK(*fresh.map.at(1).cache == 9);
}
