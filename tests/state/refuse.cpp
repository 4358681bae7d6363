// SPDX-License-Identifier: MIT
#include "cairn/state/refuse.hpp"

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/records.hpp"

namespace {

using cairn::detail::problem;

class closed {
 public:
  closed() = default;

 private:
  [[maybe_unused]] int hidden_ = 0;
};

template <class T>
struct holds {
  int first;
  T second;
};
struct tree {
  std::vector<tree> children;
  std::map<std::string, std::unique_ptr<tree>> named;
  std::shared_ptr<tree> parent;
};
struct bad_tree {
  std::vector<bad_tree> children;
  std::map<std::string, holds<closed>> named;
};
struct with_const {
  std::vector<std::pair<int, const float>> all;
  int* bad;
};

template <class T>
constexpr bool is_accepted =
    cairn::detail::refusal_of<T>.what == problem::none && !cairn::detail::refusal_of<T>.has_const;

/// The text that names the part which is refused.
template <class T>
std::string part_of() {
  std::string text(cairn::detail::refusal_of<T>.where.view());
  if (text.ends_with(" *")) text.erase(text.size() - 2, 1);  // clang spells int * so
  return text;
}

TEST_CASE("types whose parts can all be saved are accepted, also recursive ones") {
  STATIC_REQUIRE(is_accepted<int>);
  STATIC_REQUIRE(is_accepted<tree>);
  STATIC_REQUIRE(is_accepted<tests::recursive>);
  STATIC_REQUIRE(is_accepted<std::variant<std::monostate, std::optional<std::vector<tree>>>>);
  STATIC_REQUIRE(is_accepted<std::priority_queue<int>>);
}

TEST_CASE("the part that is refused is found in every kind of container, and is named") {
  CHECK(part_of<holds<closed>>().substr(0, 8) == "second: ");
  CHECK(part_of<holds<int*>>() == "second: int*");
  CHECK(part_of<holds<std::vector<holds<int*>>>>() == "second.*.second: int*");
  CHECK(part_of<holds<std::map<int, holds<int*>>>>() == "second.*.second: int*");
  CHECK(part_of<holds<std::optional<std::tuple<int, int*>>>>() == "second.1: int*");
  CHECK(part_of<holds<std::variant<int, holds<int*>>>>() == "second.second: int*");
  CHECK(part_of<holds<std::unique_ptr<holds<int*>>>>() == "second.second: int*");
  CHECK(part_of<holds<std::weak_ptr<holds<int*>>>>() == "second.second: int*");
  CHECK(part_of<holds<std::queue<holds<int*>>>>() == "second.*.second: int*");
  CHECK(part_of<holds<std::array<int*, 2>>>() == "second.*: int*");
  CHECK(part_of<holds<int* [2]>>() == "second.*: int*");
  CHECK(part_of<holds<cairn::per_rank<int*>>>() == "second: int*");
  CHECK(part_of<bad_tree>().substr(0, 16) == "named.*.second: ");
}

TEST_CASE("pointers as keys are refused, whatever compares them") {
  struct by_value {
    bool operator()(const std::shared_ptr<int>& a, const std::shared_ptr<int>& b) const { return *a < *b; }
  };
  CHECK(cairn::detail::refusal_of<std::set<std::shared_ptr<int>>>.what == problem::keys);
  CHECK(cairn::detail::refusal_of<std::map<std::unique_ptr<int>, int>>.what == problem::keys);
  CHECK(cairn::detail::refusal_of<std::set<std::shared_ptr<int>, by_value>>.what == problem::keys);
  CHECK(cairn::detail::refusal_of<std::set<std::weak_ptr<int>, std::owner_less<>>>.what == problem::keys);
}

TEST_CASE("a problem of the content comes before one of its container") {
  CHECK(part_of<std::vector<holds<int&>>>().starts_with("*: "));
  CHECK(part_of<std::map<int, std::span<int*>>>() == "*.*: int*");
  CHECK(part_of<std::span<std::vector<int>>>().starts_with("std::span"));
}

TEST_CASE("const parts are found apart from parts that are refused for a save, too") {
  const auto& found = cairn::detail::refusal_of<with_const>;
  CHECK(found.what == problem::raw_pointer);
  CHECK(found.has_const);
  CHECK(found.where_const.view() == "all.*.1");
}

template <class A, class B>
struct pair_of_parts {
  A first;
  B second;
};
template <int Depth>
struct nested_pairs {
  using inner = typename nested_pairs<Depth - 1>::type;
  using type = pair_of_parts<inner, inner>;
};
template <>
struct nested_pairs<0> {
  using type = int;
};
struct has_long_name {
  nested_pairs<15>::type part;
};

}  // namespace

TEST_CASE("names of types may be longer than compilers count in a constant") {
  STATIC_REQUIRE(cairn::detail::type_name_view<nested_pairs<15>::type>().size() > 262'144);
#if defined(__clang__) || \
    !defined(__SANITIZE_ADDRESS__)  // g++ with sanitizers compares names, with a limit of operations
  STATIC_REQUIRE(cairn::detail::refusal_of<has_long_name>.what == cairn::detail::problem::none);
#endif
}

namespace {

struct fine {
  std::vector<int> a;
};
struct constant {
  std::vector<std::vector<fine>> all;
  const int never = 0;
};

template <class State>
constexpr std::string_view named = cairn::detail::refusal_of<State>.where_const.view();

}  // namespace

TEST_CASE("a state with const parts is refused for a load only") {
  STATIC_REQUIRE(cairn::detail::problem_in<fine, true> == problem::none);
  STATIC_REQUIRE(cairn::detail::problem_in<constant, false> == problem::none);
  STATIC_REQUIRE(cairn::detail::problem_in<constant, true> == problem::const_part);
  STATIC_REQUIRE(named<constant>.starts_with("never"));
}

TEST_CASE("the walk function of a state that is accepted is that of its type") {
  CHECK(cairn::detail::checked_walk<fine, true>() == cairn::detail::walk<fine>);
  CHECK(cairn::detail::checked_walk<constant, false>() == cairn::detail::walk<constant>);
  CHECK(cairn::detail::checked_part_walk<fine>() == cairn::detail::walk<fine>);
}
