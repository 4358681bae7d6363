// SPDX-License-Identifier: MIT
#include "cairn/state/container_copies.hpp"

#include <boost/container/flat_map.hpp>

#include "catch.hpp"
#include "state/refuses.hpp"

using cairn::detail::has_key_order;
using cairn::detail::key_less;

namespace {

bool descending(int a, int b) { return a > b; }

struct by_key {
  std::vector<int> keys{};
  bool operator()(int a, int b) const {
    return keys.at(static_cast<std::size_t>(a)) < keys.at(static_cast<std::size_t>(b));
  }
};
struct seeded {
  std::size_t seed = 0;
  std::size_t operator()(int value) const { return static_cast<std::size_t>(value) * 31 + seed; }
};

/// Sets and maps that are not the same if they are made again with defaults.
struct ordered {
  std::set<int, bool (*)(int, int)> set{descending};
  std::map<int, float, std::function<bool(int, int)>> map{descending};
  std::set<int, by_key> stateful{by_key{{9, 8, 7, 6}}};
  std::unordered_set<int, seeded> hashed{0, seeded{7}};
  std::pmr::map<int, std::pmr::string> names;

  explicit ordered(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : names(memory) {}
  static auto cairn_fields() {
    return cairn::fields<&ordered::set, &ordered::map, &ordered::stateful, &ordered::hashed, &ordered::names>{};
  }
};

TEST_CASE("sets and maps keep their comparators, hash functions and memory resources") {
  ordered original;
  original.set = std::set<int, bool (*)(int, int)>({1, 2, 3}, descending);
  original.map.insert({{1, 1.0F}, {2, 2.0F}});
  original.stateful.insert({0, 1, 2, 3});
  original.hashed.insert({4, 5});
  original.names = {{1, "one"}, {2, "a name that is too long for the small buffer of a string"}};
  std::pmr::monotonic_buffer_resource memory;
  for (const bool filled : {false, true}) {
    ordered fresh(&memory);
    if (filled) {
      fresh.set.insert({7, 8, 9});
      fresh.map[5] = 5;
      fresh.stateful.insert(1);
      fresh.hashed.insert({1, 2, 3});
      fresh.names[8] = "eight";
    }
    CHECK(tests::comes_back(original, fresh));
    CHECK(fresh.set == original.set);
    CHECK(*fresh.map.begin() == std::pair<const int, float>(2, 2.0F));
    CHECK(*fresh.stateful.begin() == 3);
    CHECK(fresh.stateful.key_comp().keys.size() == 4);
    CHECK(fresh.hashed.hash_function().seed == 7);
    CHECK(fresh.names.get_allocator().resource() == &memory);
    CHECK(fresh.names.at(2).get_allocator().resource() == &memory);
    CHECK(fresh.names == original.names);
  }
}

TEST_CASE("a null comparator or hash function is a mismatch, if there are elements") {
  using by_pointer = std::map<int, int, bool (*)(int, int)>;
  using hashed = std::unordered_set<int, std::size_t (*)(int)>;
  const std::vector<by_pointer> original{by_pointer({{1, 2}, {3, 4}}, descending), by_pointer(descending)};
  const tests::kept kept(original);
  std::vector<by_pointer> fresh;  // the load would make its elements
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("0 in kept: its comparator or hash function is null"));
  CHECK(fresh.empty());
  std::vector<by_pointer> made(2, by_pointer(descending));
  kept.load(made);
  CHECK(made == original);

  const hashed numbers({1, 2}, 0, [](int value) { return static_cast<std::size_t>(value); });
  hashed unset(0, nullptr);
  CHECK_THROWS_WITH(tests::kept(numbers).load(unset), ContainsSubstring("is null"));
  const std::vector<by_pointer> empty(2);
  CHECK(tests::comes_back(empty));
}

TEST_CASE("the values of a map need not be movable, and equal keys keep their order") {
  struct state {
    std::map<std::string, std::atomic<int>> hits;
    std::unordered_multimap<int, float> multi;
    std::multimap<int, std::string> names;
    boost::container::flat_map<int, float> flat;
  };
  state original;
  original.hits["a"] = 1;
  original.hits["b"] = 2;
  for (const float each : {1.0F, 3.0F, 2.0F, 9.0F}) original.multi.insert({each > 2.5F ? 7 : 4, each});
  original.names = {{1, "b"}, {1, "a"}, {0, "c"}, {1, "c"}};
  original.flat = {{1, 2.0F}, {3, 4.0F}};
  state fresh;
  fresh.hits["c"] = 3;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.hits.size() == 2);
  CHECK(fresh.hits["b"] == 2);
  CHECK(fresh.multi == original.multi);
  CHECK(fresh.names == original.names);
}

/// A comparator that cannot be made by itself.
struct by_sign {
  int sign;
  explicit by_sign(int s) : sign(s) {}
  bool operator()(int a, int b) const { return a * sign < b * sign; }
};
using by_sign_set = std::set<int, by_sign>;

struct holds_sets {
  std::optional<by_sign_set> optional;
  std::vector<by_sign_set> vector;
  std::map<int, by_sign_set> map;
  std::variant<int, by_sign_set> variant;
  std::unique_ptr<by_sign_set> unique;
  std::shared_ptr<by_sign_set> shared;

  void fill(const by_sign_set& set) {
    optional = set;
    vector.assign(2, set);
    map.insert_or_assign(7, set);
    variant = set;
    unique = std::make_unique<by_sign_set>(set);
    shared = std::make_shared<by_sign_set>(set);
  }
};

TEST_CASE("sets whose comparator has no default constructor are loaded where they exist, also in holders") {
  holds_sets original, fresh, empty;
  original.fill(by_sign_set({1, 2, 3}, by_sign(-1)));
  fresh.fill(by_sign_set(by_sign(1)));
  const tests::kept saved(original);
  saved.load(fresh);
  CHECK(*fresh.optional->begin() == 1);
  CHECK(*original.optional->begin() == 3);
  CHECK(*fresh.vector.back().rbegin() == 3);
  CHECK(*fresh.map.at(7).begin() == 1);
  CHECK(std::get<1>(fresh.variant).size() == 3);
  CHECK(*fresh.unique->begin() == 1);
  CHECK(*fresh.shared->begin() == 1);
  tests::refuses(saved, empty, cairn::errc::mismatch, "no default constructor");
  CHECK_FALSE(empty.optional.has_value());
}

struct huge {  // more than a stack of 8 MB
  std::array<float, 3'000'000> w;
  int n;
};

TEST_CASE("no element is put on the stack, however large it is") {
  struct {
    std::map<int, huge> map;
    std::deque<huge> deque;
    std::multimap<std::string, huge> many;
  } original, fresh;
  const auto large = std::make_unique<huge>();
  large->w[5] = 3;
  original.map.emplace(1, *large);
  original.deque.push_back(*large);
  original.many.emplace("a", *large);
  const tests::kept kept(original);
  kept.load(fresh);
  CHECK(fresh.map.at(1).w[5] == 3);
  CHECK(fresh.deque[0].w[5] == 3);
  CHECK(fresh.many.find("a")->second.w[5] == 3);
  fresh.map.emplace(2, *large);
  kept.load(fresh);
  CHECK(fresh.map.size() == 1);
}

struct with_array {
  int values[2][2];
};
struct with_pointer {
  int number;
  std::shared_ptr<int> pointer;
};

}  // namespace

TEST_CASE("keys with C arrays are ordered by the elements of these, not by their addresses") {
  STATIC_REQUIRE(has_key_order<with_array>());
  const with_array keys[] = {{{{2, 1}, {0, 0}}}, {{{1, 5}, {0, 2}}}, {{{1, 5}, {0, 1}}}};
  CHECK(key_less(keys[2], keys[1]));
  CHECK(key_less(keys[1], keys[0]));
  for (const auto& a : keys)
    for (const auto& b : keys) CHECK_FALSE((key_less(a, b) && key_less(b, a)));
}

TEST_CASE("pointers are not ordered as the objects are to which they point") {
  STATIC_REQUIRE_FALSE(has_key_order<std::shared_ptr<int>>());
  STATIC_REQUIRE_FALSE(has_key_order<std::unique_ptr<int>>());
  STATIC_REQUIRE_FALSE(has_key_order<with_pointer>());
}
