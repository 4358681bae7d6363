// SPDX-License-Identifier: MIT
#include "cairn/state/arity.hpp"

#include "catch.hpp"
#include "state/records.hpp"

namespace {

using cairn::detail::arity;
using cairn::detail::counted_fields;

struct empty {};
struct empty_too {};
template <class T>
struct crtp {};
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
struct arrays_without_default {
  tests::needs_argument a[2];
  int b;
  tests::needs_argument c;
  tests::needs_argument d[2][3];
};
struct arrays_made_by_the_record {
  int a = 0;
  tests::needs_argument b[2]{tests::needs_argument(1), tests::needs_argument(2)};
  double c = 0;
  tests::needs_argument d{3};
  tests::needs_argument e[3]{tests::needs_argument(1), tests::needs_argument(2), tests::needs_argument(3)};
};
struct explicit_default {
  explicit explicit_default() = default;
  explicit_default(int, int) {}
};
struct arrays_of_explicit {
  explicit_default a[3];
  explicit_default b;
  int c;
};
struct needs_argument_by_default {
  int a = 1;
  tests::needs_argument b{1};
  int c = 2;
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
struct with_anonymous_union {
  int a;
  float b[3];
  union {
    int c;
    float d;
  };
};

struct base_and_member : empty {
  empty first;
  int a;
};
struct bases_and_member : empty, empty_too {
  empty_too first;
  empty second;
  int a;
};
struct crtp_and_member : crtp<crtp_and_member> {
  crtp<crtp_and_member> first;
  int a;
};

TEST_CASE("fields are counted one by one, C arrays as one") {
  STATIC_REQUIRE(arity<empty> == 0);
  STATIC_REQUIRE(arity<with_greedy> == 2);
  STATIC_REQUIRE(arity<needs_argument_by_default> == 3);
  STATIC_REQUIRE(arity<arrays_without_default> == 4);
  STATIC_REQUIRE(arity<arrays_made_by_the_record> == 5);
  STATIC_REQUIRE(arity<arrays_of_explicit> == 3);
}

TEST_CASE("base classes are no fields; empty ones are told from others") {
  STATIC_REQUIRE(arity<base_and_member> == 2);
  STATIC_REQUIRE(arity<bases_and_member> == 3);
  STATIC_REQUIRE(arity<crtp_and_member> == 2);
  STATIC_REQUIRE(counted_fields<bases_and_member>.bases_are_empty);
  STATIC_REQUIRE(!counted_fields<full_base>.bases_are_empty);
  STATIC_REQUIRE(!counted_fields<base_without_default>.bases_are_empty);
}

TEST_CASE("fields that cannot be counted are unknown, and unions are seen") {
  STATIC_REQUIRE(!counted_fields<with_reference>.known);
  STATIC_REQUIRE(!counted_fields<with_own_reference>.known);
  STATIC_REQUIRE(!counted_fields<shared>.known);
  STATIC_REQUIRE(counted_fields<with_anonymous_union>.has_union);
  STATIC_REQUIRE(!counted_fields<inner>.has_union);
}

/// Converts from anything, as std::any and std::function do.
struct convertible {
  int x = 0;
  convertible() = default;
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, convertible>)
  convertible(T&&) {}  // NOLINT
};

}  // namespace

TEST_CASE("a member that converts from anything is neither a base class nor a union") {
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
  CHECK(arity<first> == 2);
  CHECK(arity<last> == 2);
  CHECK(arity<alone> == 1);
  CHECK_FALSE(counted_fields<first>.has_union);
  CHECK_FALSE(counted_fields<last>.has_union);
  CHECK(counted_fields<first>.bases == 0);
}
