// SPDX-License-Identifier: MIT
#include "cairn/core/box.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;
using cairn::extents;

TEST_CASE("a box of any view is the elements with these indices") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const cairn::extents shape{random() % 5 + 1, random() % 5 + 1, random() % 5 + 1};
    sample::leaves leaves;
    memory_view whole = leaves.add("w", cairn::dtype::u16, shape, random);
    if (round % 2) {  // every other element of the last dimension
      whole = leaves.add("v", cairn::dtype::u16, {shape[0], shape[1], 2 * shape[2]}, random);
      whole.strides = packed_strides(whole.shape, 2);
      whole.shape = shape;
      whole.strides[2] = 4;
    }
    box part{{}, {}};
    for (const auto extent : shape) {
      part.first.push_back(random() % extent);
      part.shape.push_back(random() % (extent - part.first.back() + 1));
    }
    REQUIRE(is_inside(part, shape));
    const auto all = sample::packed(whole), some = sample::packed(view_of(whole, part));
    std::vector<std::byte> expected;
    for (std::uint64_t i = 0; i < cairn::element_count(shape); ++i) {
      const std::uint64_t index[] = {i / shape[2] / shape[1], i / shape[2] % shape[1], i % shape[2]};
      bool is_in = true;
      for (std::size_t d = 0; d < 3; ++d)
        is_in = is_in && index[d] >= part.first[d] && index[d] - part.first[d] < part.shape[d];
      if (is_in)
        expected.insert(expected.end(), all.begin() + 2 * static_cast<std::ptrdiff_t>(i),
                        all.begin() + 2 * static_cast<std::ptrdiff_t>(i + 1));
    }
    CHECK(some == expected);
  }
}

TEST_CASE("whole rows of a packed array are packed") {
  std::byte memory[4 * 6 * 4];
  const memory_view whole{cairn::dtype::f32, {4, 6}, memory, {}};
  CHECK(view_of(whole, {{1, 0}, {2, 6}}).contiguous());
  CHECK(view_of(whole, {{1, 2}, {1, 3}}).contiguous());
  CHECK_FALSE(view_of(whole, {{0, 0}, {2, 5}}).contiguous());
}

TEST_CASE("a box outside an array is no box of it") {
  const cairn::extents shape{4, 6};
  CHECK(is_inside({{0, 0}, {4, 6}}, shape));
  CHECK(is_inside({{4, 6}, {0, 0}}, shape));
  CHECK_FALSE(is_inside({{0, 0}, {4, 7}}, shape));
  CHECK_FALSE(is_inside({{5, 0}, {0, 0}}, shape));
  CHECK_FALSE(is_inside({{1, 1}, {~std::uint64_t{0}, 1}}, shape));
  CHECK_FALSE(is_inside({{0}, {4}}, shape));
  CHECK_FALSE(is_inside({{0, 0}, {4}}, shape));
}

TEST_CASE("the runs that two boxes, or a run and a box, have in common are those elements") {
  std::mt19937_64 random(14);
  for (int round = 0; round < 2000; ++round) {
    cairn::extents whole(1 + random() % 4);
    for (auto& each : whole) each = 1 + random() % 5;
    const auto random_box = [&] {
      box made{cairn::extents(whole.size()), cairn::extents(whole.size())};
      for (std::size_t d = 0; d < whole.size(); ++d) {
        made.first[d] = random() % (whole[d] + 1);
        made.shape[d] = random() % (whole[d] + 1 - made.first[d]);
        if (random() % 2 == 0) {
          made.first[d] = 0;
          made.shape[d] = whole[d];
        }
      }
      return made;
    };
    const auto a = random_box(), b = random_box();
    const box all{cairn::extents(whole.size()), whole};
    const auto index_of = [&](std::uint64_t number) {
      cairn::extents index(whole.size());
      for (std::size_t d = whole.size(); d-- > 0; number /= whole[d]) index[d] = number % whole[d];
      return index;
    };
    const auto has = [&](const box& of, const cairn::extents& index) {
      for (std::size_t d = 0; d < index.size(); ++d)
        if (index[d] < of.first[d] || index[d] >= of.first[d] + of.shape[d]) return false;
      return true;
    };
    const auto first = random() % (all.count() + 1), count = random() % (all.count() + 1 - first);
    using pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    pairs of_boxes, of_run;
    for (std::uint64_t number = 0; number < all.count(); ++number) {
      const auto index = index_of(number);
      if (has(a, index) && has(b, index)) of_boxes.emplace_back(number_in(a, index), number_in(b, index));
      if (number >= first && number < first + count && has(b, index))
        of_run.emplace_back(number - first, number_in(b, index));
    }
    pairs found;
    const auto add = [&](std::uint64_t x, std::uint64_t y, std::uint64_t run) {
      for (std::uint64_t i = 0; i < run; ++i) found.emplace_back(x + i, y + i);
    };
    for_each_common_run(a, b, add);
    CHECK(found == of_boxes);
    CHECK(common_part(a, b).count() == of_boxes.size());
    found.clear();
    for_each_common_run(first, count, whole, b, add);
    CHECK(found == of_run);
  }
}

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
