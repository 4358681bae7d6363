// SPDX-License-Identifier: MIT
#include "cairn/state/walk_container.hpp"

#include <boost/circular_buffer.hpp>
#include <boost/container/static_vector.hpp>

#include "catch.hpp"
#include "state/refuses.hpp"
#include "store/sample.hpp"

namespace {

struct particle {
  float position[3];
  std::int32_t id;
  bool alive;
};
struct layer {
  std::vector<float> weight;
  std::vector<float> bias;
};

std::vector<particle> particles(int count) {
  std::vector<particle> all;
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<float>(i);
    all.push_back({{x, x + 1, x + 2}, i, i % 3 == 0});
  }
  return all;
}

TEST_CASE("a vector of small records is one leaf per field") {
  const auto all = particles(1000);
  const auto what = cairn::detail::describe(all);
  REQUIRE(what.leaves.size() == 3);
  CHECK(what.leaves[0].path == "position");
  CHECK(what.leaves[0].shape == cairn::extents{1000, 3});
  CHECK(what.leaves[0].memory == reinterpret_cast<const std::byte*>(&all[0].position));  // in place, not copied
  CHECK(what.leaves[1].strides == std::vector<std::int64_t>{sizeof(particle)});
  CHECK(what.structure.empty());
  std::vector<particle> fresh;
  CHECK(tests::comes_back(all, fresh));
  REQUIRE(fresh.size() == 1000);
  CHECK(fresh[999].position[1] == 1000);
  CHECK(fresh[999].alive);
}

TEST_CASE("elements with sizes of their own have paths of their own") {
  std::vector<layer> layers{{{1, 2}, {3}}, {{}, {4, 5}}};
  const tests::kept kept(layers);
  CHECK(kept.paths() == "0.bias 0.weight 1.bias 1.weight");
  CHECK(kept.contents.structure.at("value").number == 2);
}

TEST_CASE("containers take the checkpoint's size, and say so") {
  const std::vector<layer> layers{{{1, 2}, {3}}, {{}, {4, 5}}};
  const tests::kept kept(layers);
  for (const std::size_t size : {0U, 1U, 2U, 5U}) {
    std::vector<layer> fresh(size, layer{{9, 9, 9}, {}});
    const auto report = kept.load(fresh);
    REQUIRE(fresh.size() == 2);
    CHECK(fresh[0].weight == std::vector<float>{1, 2});
    CHECK(fresh[1].bias == std::vector<float>{4, 5});
    CHECK(std::count(report.resized.begin(), report.resized.end(), "value") == (size == 0 || size == 2 ? 0 : 1));
  }
}

TEST_CASE("a vector of the same size is filled where it is") {
  const std::vector<float> original(50000, 2.5F);
  std::vector<float> fresh(50000);
  const auto* before = fresh.data();
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.data() == before);
  CHECK(fresh == original);
}

TEST_CASE("a big growth waits until memory has been prepared for all") {
  const std::vector<std::vector<float>> original{std::vector<float>(100000, 1.0F), std::vector<float>(3, 2.0F)};
  const tests::kept kept(original);
  std::vector<std::vector<float>> fresh;
  const cairn::detail::match_options options;
  cairn::detail::load_plan load(cairn::refer(fresh), kept.contents, options);
  CHECK(fresh.empty());
  load.apply();
  REQUIRE(load.growths().size() == 1);
  CHECK(load.growths()[0].bytes == 400000);
  CHECK(load.growths()[0].container == &fresh[0]);
  CHECK(fresh[0].capacity() >= 100000);
  CHECK(load.targets()[0].destination.memory == reinterpret_cast<std::byte*>(fresh[0].data()));
}

TEST_CASE("texts of any characters, and lists of texts, come back") {
  struct state {
    std::wstring wide = L"wide";
    std::u16string u16 = u"u16";
    std::vector<std::string> names{"a", "", std::string("b\0c", 3)};
    std::list<std::string> more{"d"};
  };
  const state original;
  state fresh{L"", u"other", {"other"}, {}};
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.wide == original.wide);
  CHECK(fresh.u16 == original.u16);
  CHECK(fresh.names == original.names);
}

TEST_CASE("a span is filled in place and cannot grow") {
  float memory[4] = {1, 2, 3, 4};
  const std::span<float> original(memory);
  const tests::kept kept(original);
  float other[4] = {};
  std::span<float> fresh(other);
  kept.load(fresh);
  CHECK(other[3] == 4);
  std::span<float> short_one(other, 3);
  CHECK_THROWS_WITH(kept.load(short_one), ContainsSubstring("has shape [4] in the checkpoint and [3]"));
}

TEST_CASE("an impossible size is refused before anything is made") {
  std::vector<layer> layers(2);
  tests::kept kept(layers);
  kept.contents.structure.at("value").number = 1ULL << 40;
  std::vector<layer> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("claims 1099511627776 objects"));
  CHECK(fresh.empty());
}

TEST_CASE("containers keep their memory resource, whatever they contained before") {
  struct state {
    std::pmr::vector<float> array;
    std::pmr::deque<int> deque;
    std::pmr::list<std::pmr::string> names;
    std::pmr::vector<std::pmr::vector<std::pmr::string>> nested;
    explicit state(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : array(memory), deque(memory), names(memory), nested(memory) {}
    static auto cairn_fields() { return cairn::fields<&state::array, &state::deque, &state::names, &state::nested>{}; }
  };
  state original;
  original.array.assign(20000, 1.5F);
  original.deque = {1, 2, 3};
  original.names = {"a", "a name that is too long for the small buffer of a string"};
  original.nested = {{"b"}, {}, {"c", "d"}};
  std::pmr::monotonic_buffer_resource memory;
  for (const bool filled : {false, true}) {
    state fresh(&memory);
    if (filled) {
      fresh.array.resize(7);
      fresh.deque.resize(70);
      fresh.names.resize(4);
      fresh.nested.resize(2, std::pmr::vector<std::pmr::string>(3));
    }
    CHECK(tests::comes_back(original, fresh));
    for (auto* const resource :
         {fresh.array.get_allocator().resource(), fresh.deque.get_allocator().resource(),
          fresh.names.get_allocator().resource(), fresh.nested.get_allocator().resource(),
          fresh.names.back().get_allocator().resource(), fresh.nested.back().back().get_allocator().resource()})
      CHECK(resource == &memory);
  }
}

TEST_CASE("more elements than a container can have are refused before anything is changed, with both sizes") {
  struct large {
    std::vector<float> first{1, 2, 3};
    boost::container::static_vector<int, 8> numbers{1, 2, 3, 4, 5};
    boost::container::static_vector<std::string, 8> names{"a", "b", "c", "d", "e"};
    boost::container::static_vector<layer, 8> layers = boost::container::static_vector<layer, 8>(5);
  };
  struct small {
    std::vector<float> first{9};
    boost::container::static_vector<int, 4> numbers{9};
    boost::container::static_vector<std::string, 4> names{"z"};
    boost::container::static_vector<layer, 4> layers;
  };
  const auto refused = [](const large& original, const std::string& problem) {
    const tests::kept kept(original);
    small fresh;
    const auto failure = sample::failure_of([&] { kept.load(fresh); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK(failure.says(problem));
    CHECK_FALSE(failure.says("strict"));
    CHECK(fresh.first == std::vector<float>{9});
    CHECK(fresh.numbers.size() == 1);
    CHECK(fresh.names.size() == 1);
    CHECK(fresh.layers.empty());
  };
  large many;
  const std::string limit =
      "has 5 elements in the checkpoint, and in the state it can have at most 4; give it more room, or leave it out "
      "with filter";
  refused({{1}, many.numbers, {}, {}}, "numbers " + limit);
  refused({{1}, {}, many.names, {}}, "names in kept: " + limit);
  refused({{1}, {}, {}, many.layers}, "layers " + limit);
  const large few{{1, 2}, {1, 2, 3, 4}, {"a", "b", "c"}, {}};
  small fresh;
  tests::kept(few).load(fresh);
  CHECK(std::equal(fresh.numbers.begin(), fresh.numbers.end(), few.numbers.begin(), few.numbers.end()));
  CHECK(std::equal(fresh.names.begin(), fresh.names.end(), few.names.begin(), few.names.end()));
}

TEST_CASE("elements that cannot be moved or made by the load") {
  struct counters {
    std::vector<std::atomic<int>> hits = std::vector<std::atomic<int>>(2);
    std::deque<std::atomic<bool>> flags = std::deque<std::atomic<bool>>(1);
    boost::circular_buffer<int> recent{3};
    boost::circular_buffer<std::string> names{2};
  };
  counters original;
  original.hits[1] = 5;
  original.flags[0] = true;
  for (const int each : {1, 2, 3, 4}) original.recent.push_back(each);
  for (const auto* each : {"a", "b", "c"}) original.names.push_back(each);
  counters fresh{
      std::vector<std::atomic<int>>(7), {}, boost::circular_buffer<int>(2), boost::circular_buffer<std::string>()};
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.hits[1] == 5);
  CHECK(fresh.recent == original.recent);

  struct named {
    std::string name;
    explicit named(std::string n) : name(std::move(n)) {}
    static auto cairn_fields() { return cairn::fields<&named::name>{}; }
  };
  const std::vector<named> two{named("a"), named("b")};
  const tests::kept kept(two);
  std::vector<named> three{named("x"), named("y"), named("z")};
  kept.load(three);
  REQUIRE(three.size() == 2);
  CHECK(three[1].name == "b");
  std::vector<named> one{named("x")};
  CHECK_THROWS_WITH(
      kept.load(one),
      ContainsSubstring(
          "value has 2 elements in the checkpoint, and in the state it can have at most 1, since "
          "their type has no default constructor; make them before the load, or leave it out with filter"));
  CHECK(one[0].name == "x");
}

TEST_CASE("elements that add nothing are counted, whatever they consist of") {
  using none = std::array<std::vector<float>, 0>;
  struct nothing {
    none a;
  };
  struct state {
    std::vector<none> arrays;
    std::vector<nothing> objects;
    std::deque<std::tuple<none>> tuples;
    std::vector<std::array<none, 3>> nested;
  };
  state original, loaded;
  original.arrays.resize(3);
  original.objects.resize(4);
  original.tuples.resize(5);
  original.nested.resize(6);
  CHECK(tests::comes_back(original, loaded));
  CHECK(loaded.nested.size() == 6);
}

struct without_address {
  int x = 0;
  void operator&() const = delete;  // NOLINT
};

struct row_then {
  float a = 0;
};
struct row_now {
  float a = 0, b = 7;
  using cairn_changes = cairn::added<"b">;
};

TEST_CASE("elements may overload or delete operator&") {
  std::vector<without_address> original(3), loaded;
  original[1].x = 4;
  tests::kept(original).load(loaded);
  REQUIRE(loaded.size() == 3);
  CHECK(loaded[1].x == 4);
}

TEST_CASE("elements of a vector that grows keep the members that the checkpoint lacks, however many they are") {
  for (const std::size_t size : {100U, 20'000U}) {
    const tests::kept kept(std::vector<row_then>(2 * size, row_then{1}));
    std::vector<row_now> rows(size, row_now{0, 42});
    kept.load(rows);
    REQUIRE(rows.size() == 2 * size);
    CHECK((rows[0].a == 1 && rows[0].b == 42 && rows[size].b == 7));
  }
}

TEST_CASE("objects that had no members do not fit a class that has some") {
  struct empty {};
  struct before {
    std::vector<empty> layers;
    int step = 1;
  };
  struct after {
    std::vector<layer> layers;
    int step = 0;
  };
  after fresh;
  tests::refuses(
      cairn::detail::describe(before{std::vector<empty>(9)}), fresh, cairn::errc::mismatch,
      "kept does not fit the state: layers has 9 objects without members in the checkpoint; leave it out with "
      "filter. Nothing was changed");
  CHECK(fresh.layers.empty());
}

TEST_CASE("a text and ends that are no list of strings do not fit") {
  struct columns {
    std::string text;
    std::vector<std::uint64_t> ends;
  };
  std::vector<std::string> fresh{"z"};
  for (const auto& ends : {std::vector<std::uint64_t>{2, 1}, {1, 3}})
    tests::refuses(cairn::detail::describe(columns{"ab", ends}), fresh, cairn::errc::mismatch,
                   "value in kept: has a text and ends in the checkpoint that are no list of strings; leave them out");
  CHECK(fresh == std::vector<std::string>{"z"});
  tests::kept(columns{"ab", {1, 2}}).load(fresh);
  CHECK(fresh == std::vector<std::string>{"a", "b"});
}

/// Goes over the even elements only.
template <class T>
struct every_other {
  using value_type = T;
  std::vector<T> all{};

  struct iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;
    T* at = nullptr;
    T& operator*() const { return *at; }
    iterator& operator++() {
      at += 2;
      return *this;
    }
    iterator operator++(int) {
      auto before = *this;
      at += 2;
      return before;
    }
    bool operator==(const iterator&) const = default;
  };
  [[nodiscard]] iterator begin() const { return {const_cast<T*>(all.data())}; }
  [[nodiscard]] iterator end() const { return {const_cast<T*>(all.data()) + (all.size() + 1) / 2 * 2}; }
  [[nodiscard]] std::size_t size() const { return all.size(); }
  void resize(std::size_t size) { all.resize(size); }
};

}  // namespace

template <class T>
inline constexpr bool cairn::is_container<every_other<T>> = true;

TEST_CASE("a sequence that does not go over all of its elements is not saved") {
  struct state {
    every_other<int> numbers;
    every_other<std::vector<int>> objects;
  } s;
  CHECK_NOTHROW(cairn::detail::describe(s));
  s.numbers.resize(4);
  CHECK_THROWS_WITH(cairn::detail::describe(s),
                    ContainsSubstring("numbers") && ContainsSubstring("goes over 2 of its 4"));
  s.numbers.resize(0);
  s.objects.resize(2);
  CHECK_THROWS_WITH(cairn::detail::describe(s),
                    ContainsSubstring("objects") && ContainsSubstring("goes over 1 of its 2"));
}

namespace {

/// Smallest or largest first, as the mode says.
struct by_mode {
  int mode = 0;
  bool operator()(int a, int b) const { return mode ? a > b : a < b; }
  bool operator()(const std::vector<int>& a, const std::vector<int>& b) const {
    return operator()(a.front(), b.front());
  }
};
bool is_more(int a, int b) { return a > b; }

template <class T>
using by_mode_queue = std::priority_queue<T, std::vector<T>, by_mode>;
using by_function_queue = std::priority_queue<int, std::deque<int>, bool (*)(int, int)>;

struct opened_queue : by_mode_queue<int> {
  using by_mode_queue<int>::c;
};

}  // namespace

TEST_CASE("a priority queue of another order has its own order after a load") {
  struct state {
    by_mode_queue<int> numbers;
    by_mode_queue<std::vector<int>> rows;
    by_function_queue functions;
  };
  state original{by_mode_queue<int>(by_mode{1}), by_mode_queue<std::vector<int>>(by_mode{1}),
                 by_function_queue(is_more)};
  for (const int i : {4, 1, 5, 3, 2}) {
    original.numbers.push(i);
    original.rows.push({i});
    original.functions.push(i);
  }
  state loaded{{}, {}, by_function_queue([](int a, int b) { return a < b; })};
  tests::kept(original).load(loaded);
  for (int i = 5; i > 0; --i) {
    CHECK(loaded.numbers.top() == i);
    CHECK(loaded.rows.top().front() == i);
    CHECK(loaded.functions.top() == i);
    loaded.numbers.pop();
    loaded.rows.pop();
    loaded.functions.pop();
  }
}

TEST_CASE("a priority queue of the same order keeps the places of its elements") {
  opened_queue original, loaded;
  original.c = {7, 7, 6, 7, 3, 6, 1};
  tests::kept(static_cast<by_mode_queue<int>&>(original)).load(static_cast<by_mode_queue<int>&>(loaded));
  CHECK(loaded.c == original.c);
}

TEST_CASE("a priority queue without a comparator gets no elements") {
  struct state {
    std::optional<by_function_queue> made;
    by_function_queue there;
  };
  state original{by_function_queue(is_more), by_function_queue(is_more)}, loaded;
  tests::kept(original).load(loaded);  // no elements
  loaded.made.reset();
  original.made->push(1);
  tests::refuses(cairn::detail::describe(original), loaded, cairn::errc::mismatch,
                 "made its comparator or hash function is null");
  CHECK_FALSE(loaded.made.has_value());
  original.there.push(1);
  original.made.reset();
  tests::refuses(cairn::detail::describe(original), loaded, cairn::errc::mismatch,
                 "there its comparator or hash function is null");
}
