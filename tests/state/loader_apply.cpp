// SPDX-License-Identifier: MIT
#include "cairn/state/loader.hpp"

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace {

using cairn::reshaping;
using cairn::detail::match_options;

/// A tensor that can be resized.
struct matrix {
  std::vector<std::uint64_t> sizes{0, 0};
  std::vector<float> values;

  matrix() = default;
  matrix(std::uint64_t rows, std::uint64_t columns, float first) : sizes{rows, columns}, values(rows * columns) {
    for (auto& each : values) each = first++;
  }
  bool operator==(const matrix&) const = default;
};

match_options reshape(reshaping how, std::string_view only = "") {
  return {.rename = {}, .filter = {}, .reshape = [=](std::string_view path) {
            return only.empty() || only == path ? how : reshaping::none;
          }};
}

}  // namespace

template <>
struct cairn::adapter<matrix> {
  static tensor_view<float> view(matrix& m) { return {m.values.data(), m.sizes}; }
  static void resize(matrix& m, const extents& shape) {
    m.sizes.assign(shape.begin(), shape.end());
    m.values.assign(element_count(shape), 0);
  }
};

namespace {

/// What a load of `from` into `to` has to give, of `rows` and `columns` elements.
matrix overlaid(const matrix& from, matrix to) {
  for (std::uint64_t i = 0; i < std::min(from.sizes[0], to.sizes[0]); ++i)
    for (std::uint64_t j = 0; j < std::min(from.sizes[1], to.sizes[1]); ++j)
      to.values[i * to.sizes[1] + j] = from.values[i * from.sizes[1] + j];
  return to;
}

TEST_CASE("an array that may have another shape gets the elements that both have, and keeps its others") {
  for (std::uint64_t rows = 1; rows < 4; ++rows)
    for (std::uint64_t columns = 1; columns < 4; ++columns) {
      const matrix original(rows, columns, 100);
      const tests::kept kept(original);
      for (const auto& now : {matrix(2, 2, 1), matrix(3, 1, 1), matrix(3, 3, 1)}) {
        const bool grows = rows <= now.sizes[0] && columns <= now.sizes[1];
        const bool differs = original.sizes != now.sizes;
        matrix any = now, larger = now, none = now;
        const auto report = kept.load(any, reshape(reshaping::any));
        CHECK(any == overlaid(original, now));
        CHECK(report.reshaped.size() == (differs ? 1 : 0));
        CHECK(report.resized.empty());
        if (grows) {
          kept.load(larger, reshape(reshaping::grow));
          CHECK(larger == any);
        } else {
          const auto failure = sample::failure_of([&] { kept.load(larger, reshape(reshaping::grow)); });
          CHECK(failure.says("value has shape " + cairn::to_string(original.sizes) + " in the checkpoint and " +
                             cairn::to_string(now.sizes) + " in the state (load with reshape"));
          CHECK(failure.says("reshaping::any"));
          CHECK(larger == now);
        }
        if (differs) CHECK(sample::failure_of([&] { kept.load(none, {}); }).says("reshaping::resize"));
        kept.load(none, reshape(reshaping::resize));
        CHECK(none == original);
      }
      matrix empty;
      kept.load(empty, reshape(reshaping::any));
      CHECK(empty == original);
    }
}

struct table {
  std::vector<float> rows;
  std::array<std::int32_t, 4> fixed{1, 2, 3, 4};
  std::vector<std::array<std::int16_t, 2>> pairs;
  bool operator==(const table&) const = default;
};
struct smaller {
  std::vector<float> rows;
  std::array<std::int64_t, 2> fixed{1, 2};
  std::vector<std::array<std::int16_t, 2>> pairs;
};

struct handle {
  float* memory = nullptr;
  std::array<std::int64_t, 1> dimensions{};
  [[nodiscard]] float* data() const { return memory; }
  [[nodiscard]] const std::array<std::int64_t, 1>& sizes() const { return dimensions; }
};

}  // namespace

template <>
inline constexpr bool cairn::is_container<handle> = true;

TEST_CASE("containers, arrays of fixed size and converted elements are reshaped; others are resized") {
  const table original{{1, 2, 3}, {5, 6, 7, 8}, {{1, 2}, {3, 4}}};
  const tests::kept kept(original);
  table more{{9, 9, 9, 9, 9}, {}, {{9, 9}}};
  const auto report = kept.load(more, {.rename = {}, .filter = {}, .reshape = [](std::string_view path) {
                                         return path == "rows" ? reshaping::grow : reshaping::resize;
                                       }});
  CHECK(more == table{{1, 2, 3, 9, 9}, original.fixed, original.pairs});
  CHECK(report.reshaped == std::vector<std::string>{"rows"});
  CHECK(report.resized == std::vector<std::string>{"pairs"});
  smaller less{{9, 9}, {9, 9}, {{9, 9}}};
  auto how = reshape(reshaping::any);
  how.convert = cairn::conversion::widening;
  kept.load(less, how);
  CHECK(less.rows == std::vector<float>{1, 2});
  CHECK(less.fixed == std::array<std::int64_t, 2>{5, 6});
  CHECK(less.pairs == std::vector<std::array<std::int16_t, 2>>{{1, 2}});
  const auto failure = sample::failure_of([&] { kept.load(less, {.rename = {}, .filter = {}}); });
  CHECK(failure.says("fixed has shape [4] in the checkpoint and [2] in the state (load with reshape"));
  CHECK_FALSE(failure.says("strict"));
}

TEST_CASE("an array of another number of dimensions is not reshaped") {
  const tests::kept kept(matrix(2, 2, 1));
  std::array<float, 4> flat{};
  const auto failure = sample::failure_of([&] { kept.load(flat, reshape(reshaping::any)); });
  CHECK(failure.says("value has shape [2, 2] in the checkpoint and [4] in the state; leave it out with filter"));
}

TEST_CASE("a tensor without memory that cannot be resized: the advice is to make it, as reshape would load nothing") {
  float values[3] = {1, 2, 3};
  const tests::kept kept(handle{values, {3}});
  handle empty;
  const auto failure = sample::failure_of([&] { kept.load(empty); });
  CHECK(failure.says("value has shape [3] in the checkpoint and [0] in the state; give it that shape before the load"));
  CHECK_FALSE(failure.says("reshaping"));
  float place[3] = {};
  handle made{place, {3}};
  kept.load(made);
  CHECK(place[2] == 3);
}
