// SPDX-License-Identifier: MIT
#include "cairn/core/strided.hpp"

#include <cstring>
#include <numeric>
#include <random>

#include "catch.hpp"

namespace {

/// A view of random rank, shape and strides into `memory`, elements in their own places.
cairn::detail::memory_view random_view(std::mt19937& random, std::vector<std::byte>& memory) {
  const auto pick = [&](unsigned low, unsigned high) {
    return low + static_cast<unsigned>(random()) % (high - low + 1);
  };
  constexpr cairn::dtype types[] = {cairn::dtype::u8, cairn::dtype::f16, cairn::dtype::f32, cairn::dtype::f64};
  cairn::detail::memory_view view;
  view.type = types[pick(0, 3)];
  const unsigned rank = pick(0, 4);
  for (unsigned d = 0; d < rank; ++d) view.shape.push_back(pick(1, 6));
  std::vector<unsigned> order(rank);  // of the dimensions in memory, with gaps
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  auto step = static_cast<std::int64_t>(cairn::size_of(view.type));
  view.strides.resize(rank);
  for (const auto d : order) {
    view.strides[d] = step;
    step *= static_cast<std::int64_t>(view.shape[d]) + pick(0, 1);
  }
  if (rank == 0 || cairn::detail::is_packed(view.shape, view.strides, cairn::size_of(view.type))) view.strides.clear();
  memory.resize(static_cast<std::size_t>(step));
  for (auto& each : memory) each = static_cast<std::byte>(random());
  view.memory = memory.data();
  return view;
}

std::byte* element_at(const cairn::detail::memory_view& view, std::uint64_t index) {
  const auto strides =
      view.contiguous() ? cairn::detail::packed_strides(view.shape, cairn::size_of(view.type)) : view.strides;
  std::byte* at = view.memory;
  for (std::size_t d = view.shape.size(); d-- > 0; index /= view.shape[d])
    at += static_cast<std::int64_t>(index % view.shape[d]) * strides[d];
  return at;
}

}  // namespace

TEST_CASE("any range gathers as element by element, and scatters back") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<std::byte> memory;
    const auto view = random_view(random, memory);
    const std::size_t width = cairn::size_of(view.type);
    const std::uint64_t first = random() % (view.count() + 1);
    const std::uint64_t count = random() % (view.count() - first + 1);
    std::vector<std::byte> expected(count * width);
    for (std::uint64_t i = 0; i < count; ++i)
      std::memcpy(expected.data() + i * width, element_at(view, first + i), width);
    std::vector<std::byte> out(count * width);
    cairn::detail::gather(view, first, out);
    REQUIRE(out == expected);

    auto copy = memory;
    auto into = view;
    into.memory = copy.data();
    for (auto& each : out) each = static_cast<std::byte>(random());
    cairn::detail::scatter(into, first, out);
    std::vector<std::byte> back(out.size());
    cairn::detail::gather(into, first, back);
    REQUIRE(back == out);
    std::size_t changed = 0;  // nothing outside of the range
    for (std::uint64_t i = 0; i < view.count(); ++i)
      if (i < first || i >= first + count) changed += std::memcmp(element_at(view, i), element_at(into, i), width) != 0;
    REQUIRE(changed == 0);
  }
}

TEST_CASE("strides that walk memory in order are packed") {
  CHECK(cairn::detail::is_packed({2, 3}, {12, 4}, 4));
  CHECK_FALSE(cairn::detail::is_packed({2, 3}, {4, 8}, 4));
  CHECK(cairn::detail::is_packed({1, 3}, {99, 4}, 4));
  CHECK(cairn::detail::is_packed({0, 3}, {1, 1}, 4));
  CHECK(cairn::detail::packed_strides({2, 3, 4}, 8) == std::vector<std::int64_t>{96, 32, 8});
}
