// SPDX-License-Identifier: MIT
#include "cairn/state/problem.hpp"

#include "catch.hpp"

namespace {

using cairn::detail::problem;
using cairn::detail::problem_of_adapter;

class in_record {};
struct record {
  int a = 0;
  in_record b;
};
class one {};
class two {};
class tree {};
class into_cycle {};
class plain {};

}  // namespace

template <>
struct cairn::adapter<in_record> {
  static record get(const in_record&) { return {}; }
  static void set(in_record&, record) {}
};
template <>
struct cairn::adapter<one> {
  static two get(const one&) { return {}; }
  static void set(one&, two) {}
};
template <>
struct cairn::adapter<two> {
  static std::tuple<one> get(const two&) { return {}; }
  static void set(two&, std::tuple<one>) {}
};
template <>
struct cairn::adapter<tree> {  // ends at a tree without branches
  static std::vector<tree> get(const tree&) { return {}; }
  static void set(tree&, std::vector<tree>) {}
};
template <>
struct cairn::adapter<into_cycle> {
  static one get(const into_cycle&) { return {}; }
  static void set(into_cycle&, one) {}
};
template <>
struct cairn::adapter<plain> {
  static int get(const plain&) { return 0; }
  static void set(plain&, int) {}
};

TEST_CASE("an adapter whose copy has the object again is found") {
  STATIC_REQUIRE(problem_of_adapter<in_record>() == problem::adapter_form);
  STATIC_REQUIRE(problem_of_adapter<one>() == problem::adapter_form);
  STATIC_REQUIRE(problem_of_adapter<two>() == problem::adapter_form);
  STATIC_REQUIRE(problem_of_adapter<tree>() == problem::none);
  STATIC_REQUIRE(problem_of_adapter<into_cycle>() == problem::none);  // its part is refused
  STATIC_REQUIRE(problem_of_adapter<plain>() == problem::none);
}
