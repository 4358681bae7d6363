// SPDX-License-Identifier: MIT
#include "cairn/state/flat.hpp"

#include <chrono>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"

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
struct tree {
  int value;
  std::vector<tree> children;
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
  STATIC_REQUIRE_FALSE(flat<tree>);
  STATIC_REQUIRE_FALSE(flat<std::optional<int>>);
  STATIC_REQUIRE_FALSE(flat<std::unique_ptr<int>>);
  STATIC_REQUIRE_FALSE(flat<long double>);
}
