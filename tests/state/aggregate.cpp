// SPDX-License-Identifier: MIT
#include "cairn/state/aggregate.hpp"

#include "catch.hpp"
#include "state/records.hpp"

using cairn::detail::is_read_by_pfr;
using cairn::detail::stored_field_name;
using tests::needs_argument;
using tests::recursive;
using tests::without_default;

namespace {

template <class Record>
auto tie_fields(Record& record) {
  return cairn::detail::with_fields(record, [](auto&... each) { return std::tie(each...); });
}

struct layer {
  std::vector<float> weight;
  float bias[3];
  std::string größe;
};

struct no_fields {};
struct point {
  double x = 1;
  double y = 2;
};
struct with_point {
  point from{};
  point to = {3, 4};
  std::array<point, 2> both = {{{1, 2}, {3, 4}}};
  enum class kind { line, arc } type = kind::arc;
};
struct with_const {
  const int a = 1;
  int b = 2;
  const std::string c = "x";
};
struct plain_const {
  const int a = 1;
  float b = 2;
};
struct library_types {
  std::optional<std::vector<int>> a;
  std::variant<int, std::string> b;
  std::shared_ptr<int> c;
  std::map<std::string, int> d;
  std::function<void()> e;
  std::deque<int> f;
  std::tuple<int, float> g;
};
struct move_only {
  std::unique_ptr<int> a;
  int b = 1;
  std::vector<std::unique_ptr<int>> c;
};
struct immovable {
  std::atomic<int> a = 1;
  std::mutex b;
  int c = 2;
};
struct empty {};
struct with_empty {
  [[no_unique_address]] empty a;
  int b = 1;
};
struct with_arrays {
  int a = 1;
  float b[2][3];
  std::string c[2];
  point d[1];
};
struct array_of_one {
  int a[1];
  int b;
};
struct large {
  std::array<double, 100000> a;
  int b;
};
struct lists_of_owners {  // a std::vector claims to be copyable, whatever its elements are
  std::vector<std::unique_ptr<point>> a;
  int b = 0;
};

struct lists_of_objects {
  std::vector<std::vector<int>> a = {{1, 2}, {3}};
  std::vector<std::string> b{"a", "b"};
  std::array<std::string, 2> c = {};
  struct {
    std::vector<std::string> d = {"c"};
  } e = {{"x", "y"}};
};

#define NAMES(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9
struct hundred_fields {
  int NAMES(a), NAMES(b), NAMES(c), NAMES(d), NAMES(e), NAMES(f), NAMES(g), NAMES(h), NAMES(i), NAMES(j);
};
struct hundred_with_array {
  int NAMES(a), NAMES(b), NAMES(c), NAMES(d), NAMES(e), NAMES(f), NAMES(g), NAMES(h),
      NAMES(i), j0, j1, j2, j3, j4, j5, j6, j7, j8, last[2];
};
#undef NAMES

/// The fields that with_fields and the own bindings give are `members`, in type and address.
template <class Record, class... Members>
bool has_fields(Record& record, Members&... members) {
  constexpr bool right_count = cairn::detail::arity<std::remove_const_t<Record>> == sizeof...(Members);
  const auto is_right = [&](auto&... fields) {
    if constexpr ((std::is_same_v<decltype(fields), Members&> && ...))
      return ((static_cast<const void*>(&fields) == static_cast<const void*>(&members)) && ...);
    else
      return false;
  };
  return right_count && cairn::detail::with_fields(record, is_right) &&
         cairn::detail::bind_fields<sizeof...(Members)>(record, is_right);
}

template <class Record>
bool has_hundred_in_order(Record& record) {
  const auto is_right = [&](auto&... fields) {
    const void* const found[] = {&fields...};
    for (std::size_t i = 0; i + 1 < std::size(found); ++i)
      if (found[i] != reinterpret_cast<const std::byte*>(&record) + i * sizeof(int)) return false;
    return std::size(found) == 100;
  };
  return cairn::detail::with_fields(record, is_right) && cairn::detail::bind_fields<100>(record, is_right);
}

TEST_CASE("fields come by name and by reference, in order") {
  layer object{{1}, {1, 2, 3}, "x"};
  const auto fields = tie_fields(object);
  CHECK(stored_field_name<layer, 0>.view() == "weight");
  CHECK(stored_field_name<layer, 1>.view() == "bias");
  CHECK(stored_field_name<layer, 2>.view() == "größe");
  std::get<2>(fields) = "changed";
  CHECK(object.größe == "changed");
  CHECK(std::get<1>(fields)[2] == 3);
  STATIC_REQUIRE(std::is_same_v<cairn::detail::field_types<layer>,
                                cairn::detail::type_list<std::vector<float>, float[3], std::string>>);
  const layer& constant = object;
  STATIC_REQUIRE(std::is_same_v<decltype(std::get<2>(tie_fields(constant))), const std::string&>);
}

TEST_CASE("names and types come from records that Boost.PFR reads, too") {
  STATIC_REQUIRE(is_read_by_pfr<plain_const>);
  CHECK(stored_field_name<with_point, 0>.view() == "from");
  CHECK(stored_field_name<with_point, 3>.view() == "type");
  STATIC_REQUIRE(std::is_same_v<cairn::detail::field_types<with_point>,
                                cairn::detail::type_list<point, point, std::array<point, 2>, with_point::kind>>);
  STATIC_REQUIRE(std::is_same_v<cairn::detail::field_types<plain_const>, cairn::detail::type_list<const int, float>>);
  const point constant;
  STATIC_REQUIRE(std::is_same_v<decltype(std::get<0>(tie_fields(constant))), const double&>);
}

TEST_CASE("Boost.PFR reads small records of plain values; own bindings read all others") {
  STATIC_REQUIRE(is_read_by_pfr<no_fields>);
  STATIC_REQUIRE(is_read_by_pfr<point>);
  STATIC_REQUIRE(is_read_by_pfr<plain_const>);
  STATIC_REQUIRE(is_read_by_pfr<array_of_one>);
  STATIC_REQUIRE(!is_read_by_pfr<layer>);
  STATIC_REQUIRE(!is_read_by_pfr<with_arrays>);
  STATIC_REQUIRE(!is_read_by_pfr<hundred_fields>);
  STATIC_REQUIRE(!is_read_by_pfr<without_default>);
  STATIC_REQUIRE(!is_read_by_pfr<lists_of_objects>);
  STATIC_REQUIRE(!is_read_by_pfr<library_types>);
  STATIC_REQUIRE(!is_read_by_pfr<lists_of_owners>);
  STATIC_REQUIRE(!is_read_by_pfr<immovable>);
  STATIC_REQUIRE(!is_read_by_pfr<large>);
}

TEST_CASE("fields, order and addresses are the same by either way") {
  no_fields none;
  CHECK(has_fields(none));
  point p;
  CHECK(has_fields(p, p.x, p.y));
  CHECK(has_fields(std::as_const(p), std::as_const(p.x), std::as_const(p.y)));
  with_point nested;
  CHECK(has_fields(nested, nested.from, nested.to, nested.both, nested.type));
  with_const c;
  CHECK(has_fields(c, c.a, c.b, c.c));
  plain_const plain;
  CHECK(has_fields(plain, plain.a, plain.b));
  library_types types;
  CHECK(has_fields(types, types.a, types.b, types.c, types.d, types.e, types.f, types.g));
  move_only move;
  CHECK(has_fields(move, move.a, move.b, move.c));
  immovable fixed;
  CHECK(has_fields(fixed, fixed.a, fixed.b, fixed.c));
  recursive tree;
  CHECK(has_fields(tree, tree.a, tree.b, tree.c));
  without_default w{1, needs_argument(1), 3};
  CHECK(has_fields(w, w.a, w.b, w.c));
  with_empty e;
  CHECK(has_fields(e, e.a, e.b));
  with_arrays arrays{};
  CHECK(has_fields(arrays, arrays.a, arrays.b, arrays.c, arrays.d));
  array_of_one one{};
  CHECK(has_fields(one, one.a, one.b));
  static large big;
  CHECK(has_fields(big, big.a, big.b));
  lists_of_owners owners;
  CHECK(has_fields(owners, owners.a, owners.b));
  lists_of_objects lists;
  CHECK(has_fields(lists, lists.a, lists.b, lists.c, lists.e));
  hundred_fields hundred{};
  CHECK(has_hundred_in_order(hundred));
  hundred_with_array with_array{};
  CHECK(has_hundred_in_order(with_array));
}

TEST_CASE("the fields of types of a function are read like others") {
  struct local_point {
    int x = 1;
    float y = 2;
  } p;
  STATIC_REQUIRE(is_read_by_pfr<local_point>);
  CHECK(has_fields(p, p.x, p.y));
  CHECK(stored_field_name<local_point, 1>.view() == "y");
  struct local_lists {
    std::vector<std::vector<int>> a = {{1, 2}, {3}};
    struct inner {
      std::vector<std::string> d = {"c"};
    };
    std::vector<inner> b = {{}, {{"x", "y"}}};
  } lists;
  CHECK(has_fields(lists, lists.a, lists.b));
  CHECK(stored_field_name<local_lists, 1>.view() == "b");
}

template <std::size_t Count>
bool has_all_in_order() {
  std::array<int, Count> object{};
  std::size_t taken = 0;
  const bool right =
      cairn::detail::bind_fields<Count>(object, [&](auto&... each) { return ((&each == &object[taken++]) && ...); });
  return right && taken == Count;
}

}  // namespace

TEST_CASE("each number of fields up to the largest is bound in order") {
  const auto right = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{has_all_in_order<I + 1>()...};
  }(std::make_index_sequence<cairn::detail::max_fields>{});
  for (std::size_t i = 0; i < right.size(); ++i) {
    INFO(i + 1 << " fields");
    CHECK(right[i]);
  }
}

TEST_CASE("no field is bound in an object without fields") {
  std::tuple<> object;
  CHECK(cairn::detail::bind_fields<0>(object, [](auto&... each) { return sizeof...(each); }) == 0);
}

namespace {

struct none {};
struct inner {
  int a;
  float b[3];
};
/// As a matrix of Eigen: claims to be made from any type, and does not compile if it is.
struct greedy {
  greedy() = default;
  template <class T>
  explicit greedy(const T& /*from*/) {
    static_assert(sizeof(T) == 0);
  }
};
struct with_greedy {
  std::optional<greedy> a;
  int b;
};
struct long_arrays {
  int a;
  float b[512];
  float c[100000];
  float d[64][64];
  std::string e[300];
  int f;
};
struct arrays_and_without_default {
  int a[2];
  tests::needs_argument b;
  float c[2][3];
  tests::needs_argument d;
};
struct explicit_default {
  explicit explicit_default() = default;
  explicit_default(int, int) {}
};
struct with_explicit {
  int a[3];
  explicit_default b;
  int c;
};
struct needs_argument_by_default {
  int a = 1;
  tests::needs_argument b{1};
  int c = 2;
};
struct empty_base {};
template <class Derived>
struct crtp_base {};
struct with_bases : empty_base, crtp_base<with_bases> {
  int a;
  std::vector<int> b;
};
struct full_base : inner {
  int c;
};
struct made_of_number {
  explicit made_of_number(int n) : number(n) {}
  int number;
};
struct base_without_default : made_of_number {
  int c;
};
struct with_reference {
  int a;
  int& b;
};
struct with_own_reference {
  int a = 1;
  int& b = a;
};
struct shared : std::enable_shared_from_this<shared> {
  int a;
};

}  // namespace

TEST_CASE("fields are counted one by one, C arrays as one") {
  using cairn::detail::arity;
  STATIC_REQUIRE(arity<none> == 0);
  STATIC_REQUIRE(arity<with_greedy> == 2);
  STATIC_REQUIRE(arity<long_arrays> == 6);
  STATIC_REQUIRE(arity<needs_argument_by_default> == 3);
  STATIC_REQUIRE(arity<arrays_and_without_default> == 4);
  STATIC_REQUIRE(arity<with_explicit> == 3);
}

TEST_CASE("base classes are no fields; empty ones are told from others") {
  using cairn::detail::arity;
  using cairn::detail::counted_fields;
  STATIC_REQUIRE(arity<with_bases> == 2);
  STATIC_REQUIRE(counted_fields<with_bases>.bases_are_empty);
  STATIC_REQUIRE(!counted_fields<full_base>.bases_are_empty);
  STATIC_REQUIRE(!counted_fields<base_without_default>.bases_are_empty);
}

TEST_CASE("fields that cannot be counted are unknown") {
  using cairn::detail::counted_fields;
  STATIC_REQUIRE(!counted_fields<with_reference>.known);
  STATIC_REQUIRE(!counted_fields<with_own_reference>.known);
  STATIC_REQUIRE(!counted_fields<shared>.known);
}

namespace {

/// Converts from anything, as std::any and std::function do.
struct convertible {
  int x = 0;
  convertible() = default;
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, convertible>)
  convertible(T&&) {}  // NOLINT
};

}  // namespace

TEST_CASE("a member that converts from anything is no base class") {
  struct first {
    convertible g;
    int a = 0;
  };
  struct last {
    int a = 0;
    convertible g;
  };
  struct alone {
    convertible g;
  };
  CHECK(cairn::detail::arity<first> == 2);
  CHECK(cairn::detail::arity<last> == 2);
  CHECK(cairn::detail::arity<alone> == 1);
  CHECK(cairn::detail::counted_fields<first>.bases == 0);
}
