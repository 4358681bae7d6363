// SPDX-License-Identifier: MIT
#include "cairn/state/member_problem.hpp"
#include "cairn/state/type_problem.hpp"

#include <vector>

#include "catch.hpp"

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
struct skips {
  int x = 0, cache = 0;
  using cairn_skip = cairn::names<"cache">;
};
struct not_skipped : skips {
  int cache = 0;
  using cairn_bases = cairn::bases<skips>;
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
