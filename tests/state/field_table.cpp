// SPDX-License-Identifier: MIT
#include "cairn/state/record.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "catch.hpp"

namespace {

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
