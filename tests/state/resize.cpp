// SPDX-License-Identifier: MIT
#include "cairn/state/operations.hpp"
#include "cairn/state/stored_state.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <valarray>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

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

namespace {

struct record {
  int number = 0;
  double value = 0;
};

/// Arrays of numbers of every kind that a load could resize, `n` elements each.
struct arrays {
  explicit arrays(std::size_t n = 3)
      : floats(n, 1), bools(n, true), values(1.0, n), pairs(n), longs(n, 1), complex(n), bytes(n), list{{n, 1.F}} {}

  static auto cairn_fields() {
    return cairn::fields<&arrays::floats, &arrays::bools, &arrays::values, &arrays::pairs, &arrays::longs,
                         &arrays::complex, &arrays::bytes, &arrays::list>{};
  }
  std::vector<float> floats;
  std::vector<bool> bools;
  std::valarray<double> values;
  std::vector<std::array<int, 2>> pairs;
  std::vector<long double> longs;
  std::vector<std::complex<float>> complex;
  std::vector<std::byte> bytes;
  struct inner {
    inner(std::size_t n, float first) : weights(n, first) {}
    inner() = default;
    std::vector<float> weights;
    static auto cairn_fields() { return cairn::fields<&inner::weights>{}; }
  };
  std::vector<inner> list;

  [[nodiscard]] std::vector<std::size_t> sizes() const {
    return {floats.size(), bools.size(),   values.size(), pairs.size(),
            longs.size(),  complex.size(), bytes.size(),  list[0].weights.size()};
  }
};
const std::vector<std::string> array_paths{"floats", "bools",   "values", "pairs",
                                           "longs",  "complex", "bytes",  "list.0.weights"};

struct marked {
  arrays all{3};
  std::vector<float> other{1, 2};
  using cairn_changes = cairn::resizable<"all">;
};

/// What grows by its kind: lists of objects, texts, and containers that are no arrays.
struct grown {
  std::vector<record> records;
  std::vector<std::string> texts;
  std::string text;
  std::u16string wide;
  std::deque<float> deque;
  std::list<int> list;
  std::set<int> set;
  std::map<int, float> map;
  std::map<std::string, std::string> named;
  std::priority_queue<float> heap;
  std::stack<float, std::vector<float>> stack;
};

grown grown_to(int n) {
  grown all;
  for (int i = 0; i < n; ++i) {
    all.records.push_back({i, 0.5});
    all.texts.push_back(std::to_string(i));
    all.text += 'a';
    all.wide += u'a';
    all.deque.push_back(1);
    all.list.push_back(i);
    all.set.insert(i);
    all.map[i] = 1;
    all.named[std::to_string(i)] = "x";
    all.heap.push(1);
    all.stack.push(1);
  }
  return all;
}

cairn::detail::match_options reshape(cairn::reshaping how) {
  return {.rename = {}, .filter = {}, .reshape = [=](std::string_view) { return how; }};
}

}  // namespace

TEST_CASE("an array of numbers that is not empty keeps its size: another one in the checkpoint is an error") {
  const tests::kept kept(cairn::detail::describe(arrays(5)));
  arrays three(3);
  const auto failure = sample::failure_of([&] { kept.load(three, {}); });
  CHECK(failure.code == cairn::errc::mismatch);
  for (const auto& path : array_paths) CHECK(failure.says(path + " has shape [5"));
  CHECK(
      failure.says("floats has shape [5] in the checkpoint and [3] in the state; reshaping::resize or "
                   "cairn::resizable gives it the size of the checkpoint (load with reshape and reshaping::any to"));
  CHECK(three.sizes() == std::vector<std::size_t>(8, 3));
}

TEST_CASE("an array of numbers takes the size of the checkpoint where it is empty, or its size is data") {
  const tests::kept kept(cairn::detail::describe(arrays(5)));
  const auto five = std::vector<std::size_t>(8, 5);
  arrays empty(0), three(3);
  CHECK(kept.load(empty, {}).resized.empty());
  CHECK(empty.sizes() == five);
  CHECK(kept.load(three, reshape(cairn::reshaping::resize)).resized == array_paths);
  CHECK(three.sizes() == five);
  empty.list.clear();
  kept.load(empty, {});
  CHECK(empty.sizes() == five);

  marked five_marked{.all = arrays(5)}, into;
  const tests::kept as_marked(cairn::detail::describe(five_marked));
  const auto report = as_marked.load(into, {});
  CHECK(into.all.sizes() == five);
  CHECK(report.resized.size() == array_paths.size());
  CHECK(report.resized.front() == "all.floats");
  five_marked.other = {1};
  into.all = arrays(3);
  CHECK(sample::failure_of([&] {
          tests::kept(cairn::detail::describe(five_marked)).load(into, {});
        }).says("other has shape [1] in the checkpoint and [2] in the state"));
  CHECK(into.all.sizes() == std::vector<std::size_t>(8, 3));
}

TEST_CASE("an array that keeps its size by reshaping keeps its other elements, also bits and wide numbers") {
  const tests::kept kept(cairn::detail::describe(arrays(2)));
  arrays three(3);
  three.floats = {7, 8, 9};
  three.bools = {false, false, true};
  three.longs = {7, 8, 9};
  const auto report = kept.load(three, reshape(cairn::reshaping::grow));
  CHECK(report.reshaped == array_paths);
  CHECK(report.resized.empty());
  CHECK(three.floats == std::vector<float>{1, 1, 9});
  CHECK(three.bools == std::vector<bool>{true, true, true});
  CHECK(three.longs == std::vector<long double>{1, 1, 9});
}

TEST_CASE("lists of objects, texts and containers that are no arrays take the size of the checkpoint") {
  for (const int from : {0, 2, 5}) {
    grown into = grown_to(3);
    const tests::kept kept(cairn::detail::describe(grown_to(from)));
    const auto report = kept.load(into, {});
    CHECK(tests::kept(cairn::detail::describe(into)) == kept);
    CHECK(std::count(report.resized.begin(), report.resized.end(), "records") == 1);
    CHECK(std::count(report.resized.begin(), report.resized.end(), "text") == 0);
  }
}

TEST_CASE("what a load makes takes the sizes of the checkpoint, whatever its constructor gives it") {
  struct made {
    std::vector<float> weights = std::vector<float>(4);
    std::vector<bool> mask = std::vector<bool>(4);
  };
  struct holders {
    std::vector<made> list;
    std::optional<made> maybe;
    std::unique_ptr<made> owned;
    std::shared_ptr<made> shared;
    std::map<std::string, made> named;
    std::map<std::vector<int>, made> entries;
  } saved, into;
  const made six{std::vector<float>(6), std::vector<bool>(6)};
  saved.list = {six, six};
  saved.maybe = six;
  saved.owned = std::make_unique<made>(six);
  saved.shared = std::make_shared<made>(six);
  saved.named["a"] = saved.entries[{1}] = six;
  into.list.resize(0);
  const tests::kept kept(cairn::detail::describe(saved));
  CHECK(kept.load(into, {}).resized.empty());
  CHECK(tests::kept(cairn::detail::describe(into)) == kept);
  into.list = {made{}, six};
  CHECK(
      sample::failure_of([&] { kept.load(into, {}); }).says("list.0.weights has shape [6] in the checkpoint and [4]"));
}

namespace {

struct point {
  std::array<float, 2> at{};
  int label = 0;
};
struct labelled {
  int label = 0;
};
struct other {
  double none = 0;
};

struct old_row {
  float w = 5;
  float bias[3] = {1, 2, 3};
};
struct renamed_row {
  float weight = -1;
  float biases[3] = {};
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "w">, cairn::renamed<"biases", "bias">>;
};
struct migrated_row {
  float a = -1;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "a">;
  void cairn_migrate(cairn::stored_parts& from) { a = from.get<float>("none"); }
};
struct old_number {
  float none = 5;
};

}  // namespace

TEST_CASE("a container gets the size of the first column that is stored, or keeps its own") {
  const tests::kept kept(cairn::detail::describe(std::vector<point>(5)));
  std::vector<labelled> some(2);
  std::vector<other> none(2);
  const cairn::detail::match_options lenient{.strict = false, .rename = {}, .filter = {}};
  CHECK(kept.load(some, lenient).resized == std::vector<std::string>{"value"});
  CHECK(some.size() == 5);
  kept.load(none, lenient);
  CHECK(none.size() == 2);
}

TEST_CASE("a column without rows is one object; a reshaped container keeps its size, unless it is empty") {
  const tests::kept one(cairn::detail::describe(point{}));
  std::vector<point> points;
  one.load(points);
  CHECK(points.size() == 1);

  const tests::kept kept(cairn::detail::describe(std::vector<point>(5)));
  const cairn::detail::match_options any{
      .rename = {}, .filter = {}, .reshape = [](std::string_view) { return cairn::reshaping::any; }};
  kept.load(points, any);
  CHECK(points.size() == 1);
  points.clear();
  kept.load(points, any);
  CHECK(points.size() == 5);
}

TEST_CASE("one object becomes a container of one, also if its members were renamed or its class migrated") {
  std::vector<renamed_row> rows;
  tests::kept(cairn::detail::describe(old_row{})).load(rows);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].weight == 5);
  CHECK(rows[0].biases[2] == 3);
  const tests::kept number(cairn::detail::describe(old_number{}));
  for (const std::size_t before : {0U, 2U}) {
    std::vector<migrated_row> vector(before);
    std::list<migrated_row> list(before);
    number.load(vector);
    number.load(list);
    REQUIRE((vector.size() == 1 && list.size() == 1));
    CHECK((vector.front().a == 5 && list.front().a == 5));
  }
}

TEST_CASE("a reshaped container keeps its size also if its members were renamed") {
  const tests::kept kept(cairn::detail::describe(std::vector<old_row>(3)));
  std::vector<renamed_row> rows(2);
  kept.load(rows, {.rename = {}, .filter = {}, .reshape = [](std::string_view) { return cairn::reshaping::any; }});
  CHECK(rows.size() == 2);
}
