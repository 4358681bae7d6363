// SPDX-License-Identifier: MIT
#include "cairn/state/parts.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

using cairn::detail::problem;
using cairn::detail::problem_of_lists;

struct base {
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&base::a>{}; }
};
struct without : base {
  int b = 0;
};
struct with_none_of_its_own : base {
  static auto cairn_fields() { return cairn::fields<&base::a>{}; }
};
struct stateless : base {
  int cache = 0;
  static auto cairn_fields() { return cairn::fields<>{}; }
};
struct below_stateless : stateless {
  int b = 0;
};
template <class T>
struct box {
  T value{};
  int cache = 0;
  static auto cairn_fields() { return cairn::fields<>{}; }
};
struct below_box : box<int> {
  int b = 0;
};
template <class T>
struct box_below_box : box<T> {
  T b{};
};
struct inherits_all : base {
  using cairn_bases = cairn::bases<base>;
};
struct inherits_bases : inherits_all {
  int b = 0;
};

TEST_CASE("a list belongs to the class that declares it") {
  STATIC_REQUIRE(problem_of_lists<base>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<without>() == problem::own_members);
  STATIC_REQUIRE(problem_of_lists<with_none_of_its_own>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<stateless>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<below_stateless>() == problem::own_members);
  STATIC_REQUIRE(problem_of_lists<box<int>>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<below_box>() == problem::own_members);
  STATIC_REQUIRE(problem_of_lists<box_below_box<int>>() == problem::own_members);
  STATIC_REQUIRE(problem_of_lists<box<box<int>>>() == problem::none);
}

TEST_CASE("a list of base classes replaces an inherited list of fields") {
  STATIC_REQUIRE(problem_of_lists<inherits_all>() == problem::none);
  STATIC_REQUIRE(std::is_same_v<cairn::detail::own_fields<inherits_all>, cairn::fields<>>);
  STATIC_REQUIRE(problem_of_lists<inherits_bases>() == problem::own_members);
}

/// A class with a member that it does not list.
class worker {
 public:
  worker() = default;
  explicit worker(float w, int id = 7) : weights{w, w}, id_(id) {}
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] float weight() const { return weights[1]; }
  static auto cairn_fields() { return cairn::fields<&worker::weights>{}; }

 private:
  float weights[2] = {};
  int id_ = 7;
};
struct lead {
  int rank = 0;
  std::array<worker, 1> by{};
  std::pair<int, worker> next{};
};

struct crews {
  std::vector<worker> vector;
  std::deque<worker> deque;
  std::list<lead> list;
  std::map<int, worker> map;
  std::map<int, worker> other_keys;
  std::unordered_map<std::string, lead> leads;
};

crews crew_of(int id, float weight, std::size_t count) {
  const worker one(weight, id);
  const lead two{1, {one}, {2, one}};
  return {std::vector(count, one), std::deque(count, one),
          std::list(count, two),   {{1, one}},
          {{id, one}, {1, one}},   {{"a", two}}};
}

}  // namespace

TEST_CASE("a load keeps the members that a class does not list, in every container") {
  for (const std::size_t count : {std::size_t{2}, std::size_t{10'000}}) {
    auto into = crew_of(42, 1, 2);
    tests::kept(crew_of(3, 5, count)).load(into);
    REQUIRE((into.vector.size() == count && into.deque.size() == count && into.list.size() == count));
    CHECK((into.vector[0].id() == 42 && into.vector[0].weight() == 5));
    CHECK((into.deque[1].id() == 42 && into.deque[1].weight() == 5));
    CHECK((into.list.front().by[0].id() == 42 && into.list.front().next.second.id() == 42));
    CHECK((into.list.front().next.second.weight() == 5 && into.list.front().next.first == 2));
    CHECK((into.map.at(1).id() == 42 && into.map.at(1).weight() == 5));
    CHECK((into.other_keys.size() == 2 && into.other_keys.at(1).id() == 7));  // made anew with its keys
    CHECK((into.leads.at("a").by[0].id() == 42 && into.leads.at("a").by[0].weight() == 5));
    if (count > 2) CHECK(into.vector[count - 1].id() == 7);
  }
}
