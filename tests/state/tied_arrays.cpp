// SPDX-License-Identifier: MIT
#include "cairn/state/load_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cairn/state/state.hpp"
#include "catch.hpp"
#include "state/kept.hpp"

TEST_CASE("arrays that overlap in memory conflict where their stored bytes differ") {
  std::mt19937 random(7);
  std::vector<std::byte> memory(64);
  for (int round = 0; round < 200; ++round) {
    cairn::detail::catalog from;
    std::vector<std::vector<std::byte>> values;
    cairn::detail::tied_arrays arrays;
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t begin = random() % 48, size = random() % 16;
      from.leaves.push_back({std::to_string(i), cairn::dtype::u8, {size}});
      values.emplace_back(size, random() % 8 == 0 ? std::byte(random() % 2) : std::byte(0));
      begins.push_back(begin);
      arrays.add({cairn::dtype::u8, {size}, memory.data() + begin, {}}, nullptr, i);
    }
    from.fetch = [&](std::size_t i, std::span<std::byte> out) { std::ranges::copy(values[i], out.begin()); };
    // Bytes that no two arrays disagree about are what all of them write.
    bool differ = false;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (std::size_t at = 0; at < memory.size(); ++at) {
          const auto has = [&](std::size_t k) { return at >= begins[k] && at - begins[k] < values[k].size(); };
          differ = differ || (has(i) && has(j) && values[i][at - begins[i]] != values[j][at - begins[j]]);
        }
    cairn::detail::fetched_leaves by;
    CHECK(arrays.find_conflicts(by, from).empty() != differ);
  }
}

TEST_CASE("numbers, parts of arrays and columns under two names cannot have two values") {
  struct point {
    double x = 0;
    int y = 0;
  };
  const auto message = Catch::Matchers::ContainsSubstring("share memory in the state but differ in the checkpoint");
  const auto check = [&](auto a, auto b, auto& into) {
    const tests::kept kept(cairn::detail::describe(cairn::state{{"a", a}, {"b", b}}));
    cairn::state same{{"a", into}, {"b", into}};
    CHECK_THROWS_WITH(kept.load(same), message);
    const tests::kept one(cairn::detail::describe(cairn::state{{"a", a}, {"b", a}}));
    one.load(same);
    return a;
  };
  double number = 5;
  CHECK(check(1.0, 2.0, number) == number);
  std::string text = "c";
  CHECK(check(std::string("a"), std::string("b"), text) == text);
  std::vector<point> points(2);
  check(std::vector<point>{{1, 2}, {3, 4}}, std::vector<point>{{1, 2}, {3, 5}}, points);
  CHECK(points[1].y == 4);

  std::vector<float> whole{1, 2, 3, 4}, values{3, 5};
  cairn::tensor_view<float> part(values.data(), {2});
  const auto save = [&] {
    return tests::kept(cairn::detail::describe(cairn::state{{"part", part}, {"whole", whole}}));
  };
  const tests::kept differ = save();
  values[1] = 4;
  const tests::kept fit = save();
  std::vector<float> into(4);
  cairn::tensor_view<float> tail(into.data() + 2, {2});
  cairn::state both{{"part", tail}, {"whole", into}};
  CHECK_THROWS_WITH(differ.load(both), message);
  CHECK(into == std::vector<float>(4));
  fit.load(both);
  CHECK(into == whole);
}
