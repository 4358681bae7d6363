// SPDX-License-Identifier: MIT
#include "cairn/state/user_lines.hpp"
#include "cairn/state/flat.hpp"

#include <chrono>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/member_problem.hpp"
#include "cairn/state/skipped_fields.hpp"
#include "cairn/state/type_problem.hpp"
#include "catch.hpp"

namespace {

using cairn::detail::problem;
using cairn::detail::problem_of;

struct versioned_tag {
  static constexpr unsigned cairn_version = 3;
};

struct skip_tag {
  using cairn_skip = cairn::names<"cache">;
};
struct below_skip : skip_tag {
  int cache = 0, value = 0;
};
struct middle : skip_tag {};
struct below_middle : middle {
  int cache = 0, value = 0;
};
struct own_skip : skip_tag {
  int cache = 0, value = 0;
  using cairn_skip = cairn::names<"value">;
};
struct skips : versioned_tag {
  int cache = 0, value = 0;
  using cairn_skip = cairn::names<"cache">;
};
struct lists_below_skips : skips {
  int more = 0;
  using cairn_bases = cairn::bases<skips>;
  static auto cairn_fields() { return cairn::fields<&lists_below_skips::more>{}; }
};

struct changes_tag {
  using cairn_changes = cairn::changes<cairn::renamed<"value", "v">>;
};
struct below_changes : changes_tag {
  int value = 0;
};

struct final_record final {
  int value = 0;
};
class final_class final {
 public:
  static auto cairn_fields() { return cairn::fields<&final_class::value_>{}; }

 private:
  int value_ = 0;
};
struct layer {
  int id = 0;
};
struct final_of_other_form final : layer {
  int value = 0;
  using cairn_bases = layer;
  static auto cairn_fields() { return cairn::fields<&final_of_other_form::value>{}; }
};
struct with_virtual {
  virtual ~with_virtual() = default;
  virtual int number() const = 0;
  int value = 0;
  static auto cairn_fields() { return cairn::fields<&with_virtual::value>{}; }
};

}  // namespace

TEST_CASE("the skip list and the changes of a base class are refused") {
  STATIC_REQUIRE(problem_of<below_skip>() == problem::lines_of_base);
  STATIC_REQUIRE(problem_of<below_middle>() == problem::lines_of_base);
  STATIC_REQUIRE(problem_of<below_changes>() == problem::lines_of_base);
  STATIC_REQUIRE(problem_of<own_skip>() == problem::none);
  STATIC_REQUIRE(problem_of<skips>() == problem::none);
  STATIC_REQUIRE(problem_of<lists_below_skips>() == problem::none);
}

TEST_CASE("lines are looked for in final and in abstract classes") {
  STATIC_REQUIRE(problem_of<final_record>() == problem::none);
  STATIC_REQUIRE(problem_of<final_class>() == problem::none);
  STATIC_REQUIRE(problem_of<final_of_other_form>() == problem::bases_line);
  STATIC_REQUIRE(problem_of<with_virtual>() == problem::none);
}

namespace {

struct without_changes {
  int a = 0;
};
struct with_changes {
  int a = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::renamed<"a", "b">;
  void cairn_migrate(cairn::stored_parts&) {}
};
struct const_migration {
  void cairn_migrate(const cairn::stored_parts&) const {}
};
struct other_migration {
  void cairn_migrate(int) {}
};

}  // namespace

TEST_CASE("the lines of a class that has with_changes") {
  using namespace cairn::detail;
  STATIC_REQUIRE(has_changes<with_changes>);
  STATIC_REQUIRE(declares_version<with_changes>);
  STATIC_REQUIRE(has_migration<with_changes>);
  STATIC_REQUIRE_FALSE(has_changes<without_changes>);
  STATIC_REQUIRE_FALSE(declares_version<without_changes>);
  STATIC_REQUIRE_FALSE(declares_migration<without_changes>);
  STATIC_REQUIRE(has_migration<const_migration>);
  STATIC_REQUIRE(declares_migration<other_migration>);
  STATIC_REQUIRE_FALSE(has_migration<other_migration>);
}

namespace {

struct marked {
  int a;
  cairn::skip<int*> b;
  int* c;
  using cairn_skip = cairn::names<"c">;
};
struct all_marked {
  cairn::skip<int> a;
};
struct named {
  cairn::skip<int> a;
  std::string b;
};

}  // namespace

TEST_CASE("the fields that are not state are those of type skip and those of the list") {
  using cairn::detail::is_skipped_field;
  STATIC_REQUIRE_FALSE(is_skipped_field<marked, 0, int>());
  STATIC_REQUIRE(is_skipped_field<marked, 1, cairn::skip<int*>>());
  STATIC_REQUIRE(is_skipped_field<marked, 2, int*>());
}

TEST_CASE("a record is flat if its fields that are state are, and it has some") {
  using namespace cairn::detail;
  STATIC_REQUIRE(is_flat<marked>());
  STATIC_REQUIRE_FALSE(is_flat<all_marked>());
  STATIC_REQUIRE_FALSE(is_flat<named>());
  STATIC_REQUIRE(adds_nothing<all_marked>());
  STATIC_REQUIRE_FALSE(adds_nothing<marked>());
  STATIC_REQUIRE(has_skipped<marked[2]>());
  STATIC_REQUIRE_FALSE(has_skipped<int>());
}

namespace {

using cairn::detail::problem;
using cairn::detail::problem_of_adapter;

class itself {};
class in_pair {};
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
struct cairn::adapter<itself> {
  static itself get(const itself& from) { return from; }
  static void set(itself&, itself) {}
};
template <>
struct cairn::adapter<in_pair> {
  static std::pair<int, in_pair> get(const in_pair& from) { return {0, from}; }
  static void set(in_pair&, std::pair<int, in_pair>) {}
};
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
  STATIC_REQUIRE(problem_of_adapter<itself>() == problem::adapter_of_itself);
  STATIC_REQUIRE(problem_of_adapter<in_pair>() == problem::adapter_of_itself);
  STATIC_REQUIRE(problem_of_adapter<in_record>() == problem::adapter_of_itself);
  STATIC_REQUIRE(problem_of_adapter<one>() == problem::adapter_of_itself);
  STATIC_REQUIRE(problem_of_adapter<two>() == problem::adapter_of_itself);
  STATIC_REQUIRE(problem_of_adapter<tree>() == problem::none);
  STATIC_REQUIRE(problem_of_adapter<into_cycle>() == problem::none);  // its part is refused
  STATIC_REQUIRE(problem_of_adapter<plain>() == problem::none);
}

namespace {

using cairn::detail::name_of_two;
using cairn::detail::problem;
using cairn::detail::problem_of;

struct base {
  int x = 0;
};
struct other {
  int y = 0;
};
struct distinct : base, other, std::vector<int> {
  int z = 0;
  using cairn_bases = cairn::bases<base, other, std::vector<int>>;
  static auto cairn_fields() { return cairn::fields<&distinct::z>{}; }
};
struct deep : distinct {
  int y = 0;
  using cairn_bases = cairn::bases<distinct>;
  static auto cairn_fields() { return cairn::fields<&deep::y>{}; }
};
struct base_twice : base {
  int z = 0;
  using cairn_bases = cairn::bases<base, base>;
  static auto cairn_fields() { return cairn::fields<&base_twice::z>{}; }
};
struct container_twice : std::vector<int> {
  int z = 0;
  using cairn_bases = cairn::bases<std::vector<int>, std::vector<int>>;
  static auto cairn_fields() { return cairn::fields<&container_twice::z>{}; }
};
struct member_twice {
  int z = 0;
  static auto cairn_fields() { return cairn::fields<&member_twice::z, &member_twice::z>{}; }
};
struct inherited_twice : base {
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&inherited_twice::x>{}; }
};
struct member_base1 : std::vector<int>, std::vector<float> {
  int base1 = 0;
  using cairn_bases = cairn::bases<std::vector<int>, std::vector<float>>;
  static auto cairn_fields() { return cairn::fields<&member_base1::base1>{}; }
};
struct skips_cache {
  int x = 0, cache = 0;
  using cairn_skip = cairn::names<"cache">;
};
struct not_skipped : skips_cache {
  int cache = 0;
  using cairn_bases = cairn::bases<skips_cache>;
  static auto cairn_fields() { return cairn::fields<&not_skipped::cache>{}; }
};

}  // namespace

TEST_CASE("members with one path are found, through base classes") {
  STATIC_REQUIRE(problem_of<distinct>() == problem::none);
  STATIC_REQUIRE(problem_of<not_skipped>() == problem::none);
  STATIC_REQUIRE(problem_of<deep>() == problem::equal_paths);
  STATIC_REQUIRE(name_of_two<deep>() == "y");
  STATIC_REQUIRE(name_of_two<base_twice>() == "x");
  STATIC_REQUIRE(name_of_two<container_twice>() == "base");
  STATIC_REQUIRE(name_of_two<member_twice>() == "z");
  STATIC_REQUIRE(name_of_two<inherited_twice>() == "x");
  STATIC_REQUIRE(name_of_two<member_base1>() == "base1");
}

namespace {

struct point {
  float xyz[3];
  std::complex<double> phase;
  bool visible;
  std::pair<int, std::chrono::seconds> seen;
};
struct named_point {
  point at;
  std::string name;
};
struct empty {};
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::a_>{}; }

 private:
  int a_ = 0;
};
struct virtually_derived : virtual listed {
  int b = 0;
  using cairn_bases = cairn::bases<listed>;
  static auto cairn_fields() { return cairn::fields<&virtually_derived::b>{}; }
};
struct derived_from_listed : listed {
  using cairn_bases = cairn::bases<listed>;
};
struct with_bit_field {
  int a : 3;
};
struct nested_lists {
  int value;
  std::vector<nested_lists> children;
};

}  // namespace

TEST_CASE("flat is what has the same numbers at the same offsets in every object") {
  using cairn::detail::flat;
  STATIC_REQUIRE(flat<int>);
  STATIC_REQUIRE(flat<point>);
  STATIC_REQUIRE(flat<std::array<point, 3>>);
  STATIC_REQUIRE(flat<std::tuple<int, point>>);
  STATIC_REQUIRE(flat<listed>);
  STATIC_REQUIRE(flat<derived_from_listed>);
  STATIC_REQUIRE_FALSE(flat<virtually_derived>);
  STATIC_REQUIRE_FALSE(flat<with_bit_field>);
  STATIC_REQUIRE_FALSE(flat<named_point>);
  STATIC_REQUIRE_FALSE(flat<empty>);
  STATIC_REQUIRE_FALSE(flat<nested_lists>);
  STATIC_REQUIRE_FALSE(flat<std::optional<int>>);
  STATIC_REQUIRE_FALSE(flat<std::unique_ptr<int>>);
  STATIC_REQUIRE_FALSE(flat<long double>);
}
