// SPDX-License-Identifier: MIT
#include "cairn/state/resize.hpp"

#include <atomic>
#include <deque>
#include <forward_list>
#include <list>
#include <memory_resource>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

/// Numbers without a default constructor.
struct number {
  int value;
  explicit number(int v) : value(v) {}
};
struct holder {
  std::string text;
  explicit holder(std::string t) : text(std::move(t)) {}
};

/// Resizes to 0 to 4 elements in turn; returns whether each size was reached.
template <class T>
bool reaches_all(T& object) {
  for (const std::uint64_t size : {3U, 1U, 4U, 0U, 2U}) {
    cairn::detail::resize_to(object, size);
    if (static_cast<std::uint64_t>(std::distance(object.begin(), object.end())) != size) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("sequences take any size where their elements can be made") {
  std::vector<std::string> strings;
  std::vector<std::atomic<int>> atomics(2);
  std::deque<std::atomic<int>> deque(2);
  std::list<std::atomic<int>> list(2);
  std::forward_list<std::atomic<int>> forward(2);
  std::vector<number> numbers;
  CHECK(reaches_all(strings));
  CHECK(reaches_all(atomics));
  CHECK(reaches_all(deque));
  CHECK(reaches_all(list));
  CHECK(reaches_all(forward));
  CHECK(reaches_all(numbers));
}

TEST_CASE("a sequence keeps its allocator, even if its elements cannot be moved") {
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<std::atomic<int>> atomics(1, &memory);
  std::pmr::vector<std::pmr::string> strings(1, &memory);
  cairn::detail::resize_to(atomics, 3);
  cairn::detail::resize_to(strings, 3);
  CHECK(atomics.get_allocator().resource() == &memory);
  CHECK(strings.get_allocator().resource() == &memory);
  CHECK(strings.back().get_allocator().resource() == &memory);
}

TEST_CASE("elements that cannot be made can only be removed") {
  std::vector<holder> all{holder("a"), holder("b")};
  CHECK(cairn::detail::limits_of(all, 2).most == 2);
  cairn::detail::resize_to(all, 1);
  REQUIRE(all.size() == 1);
  CHECK(all[0].text == "a");
  std::forward_list<holder> forward;
  CHECK(cairn::detail::limits_of(forward, 0).most == 0);
  CHECK(cairn::detail::limits_of(std::vector<float>(), 0).most == std::vector<float>().max_size());
}

namespace {

struct row {
  int id;
  float score;
};
struct containers {
  std::vector<float> numbers;
  std::string text;
  std::vector<bool> bits;
  std::vector<row> rows;
  std::vector<std::string> names;
  std::vector<std::vector<float>> nested;
  std::vector<std::vector<std::string>> nested_names;
  std::map<std::string, std::vector<std::vector<int>>> map;

  /// As many elements as there is room for.
  explicit containers(std::size_t size)
      : numbers(size, 1.0F),
        text(size, 'a'),
        bits(size),
        rows(size),
        names(size, std::string(size, 'b')),
        nested(size, std::vector<float>(size)),
        nested_names(size, std::vector<std::string>(size, std::string(size, 'c'))),
        map{{"a", std::vector<std::vector<int>>(size, std::vector<int>(size))}} {}
  static auto cairn_fields() {
    using self = containers;
    return cairn::fields<&self::numbers, &self::text, &self::bits, &self::rows, &self::names, &self::nested,
                         &self::nested_names, &self::map>{};
  }

  /// The capacities of all containers, those in the first `inner` elements included, and where the elements are.
  [[nodiscard]] std::vector<std::pair<std::size_t, const void*>> rooms(std::size_t inner) const {
    std::vector<std::pair<std::size_t, const void*>> all;
    const auto add = [&](const auto& container) { all.emplace_back(container.capacity(), container.data()); };
    add(numbers), add(text), add(rows), add(names), add(nested), add(nested_names), add(map.at("a"));
    all.emplace_back(bits.capacity(), nullptr);
    for (std::size_t i = 0; i < inner; ++i) {
      add(names[i]), add(nested[i]), add(nested_names[i]), add(map.at("a")[i]);
      for (std::size_t j = 0; j < inner; ++j) add(nested_names[i][j]);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("a load of fewer elements keeps the capacity of each container, and its memory") {
  for (const std::size_t size : {std::size_t{3}, std::size_t{100}}) {
    containers fresh(size);
    const auto before = fresh.rooms(2);
    const containers original(2);
    REQUIRE(tests::comes_back(original, fresh));
    CHECK(fresh.rooms(2) == before);
    CHECK(fresh.numbers.size() == 2);
    CHECK(fresh.nested_names[1][1].size() == 2);

    const containers again(size < 100 ? 3 : 40);  // more elements, but not more than there is room for
    REQUIRE(tests::comes_back(again, fresh));
    CHECK(fresh.rooms(2) == before);
  }
}

TEST_CASE("a load of none keeps the capacity of each container") {
  containers fresh(50);
  const auto before = fresh.rooms(0);
  containers none(0);
  REQUIRE(tests::comes_back(none, fresh));
  CHECK(fresh.rooms(0) == before);
}

TEST_CASE("a load into reserved memory stays in it, also where the container is large") {
  const std::vector<double> original(100'000, 0.5);
  std::vector<double> fresh{1, 2};
  fresh.reserve(200'000);
  const double* const memory = fresh.data();
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(fresh.capacity() == 200'000);
  CHECK(fresh.data() == memory);

  std::vector<double> small{1, 2};
  REQUIRE(tests::comes_back(original, small));
  CHECK(small.capacity() == original.size());  // what it needs, and no more
  const std::string text(100'000, 'x');
  std::string into("y");
  into.reserve(300'000);
  REQUIRE(tests::comes_back(text, into));
  CHECK(into.capacity() == 300'000);
}

TEST_CASE("a load keeps the number of buckets of a hash table, and how full it may be") {
  struct tables {
    std::unordered_set<int> set;
    std::unordered_map<int, float> columns;
    std::unordered_map<int, std::vector<float>> keyed;
    std::unordered_map<double, std::vector<float>> entries;
    std::unordered_multimap<int, float> multi;
  };
  const auto each_of = [](auto& of, const auto& action) {
    action(of.set), action(of.columns), action(of.keyed), action(of.entries), action(of.multi);
  };
  tables original, fresh;
  for (int i = 0; i < 20; ++i) {
    original.set.insert(i);
    original.columns[i] = 1;
    original.keyed[i] = {1};
    original.entries[i] = {2};
    original.multi.emplace(i / 2, 3.0F);
  }
  each_of(fresh, [](auto& table) {
    table.max_load_factor(0.25F);
    table.reserve(1000);
  });
  fresh.set = {100, 101};
  fresh.columns[100] = 1;
  fresh.keyed[100] = {1};
  std::vector<std::size_t> before, after;
  each_of(fresh, [&](auto& table) {
    table.max_load_factor(0.25F);
    table.reserve(1000);
    before.push_back(table.bucket_count());
  });
  REQUIRE(tests::comes_back(original, fresh));
  each_of(fresh, [&](auto& table) {
    after.push_back(table.bucket_count());
    CHECK(table.max_load_factor() == 0.25F);
    CHECK(table.size() == 20);
  });
  CHECK(after == before);
  tables none;
  REQUIRE(tests::comes_back(none, fresh));
  after.clear();
  each_of(fresh, [&](auto& table) { after.push_back(table.bucket_count()); });
  CHECK(after == before);
}
