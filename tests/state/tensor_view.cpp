// SPDX-License-Identifier: MIT
#include "cairn/state/tensor_view.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

/// A tensor whose element type is known at run time. A default-made one is a null handle.
struct tensor {
  cairn::dtype type{};
  cairn::extents shape;
  std::vector<std::byte> bytes;
  bool made = false;

  tensor() = default;
  tensor(cairn::dtype of, const cairn::extents& size) { make(of, size); }
  virtual ~tensor() = default;  // so that Cairn cannot take it apart
  void make(cairn::dtype of, const cairn::extents& size) {
    type = of;
    shape = size;
    bytes.assign(cairn::element_count(size) * size_of(of) + 1, std::byte{0});
    made = true;
  }
  template <class T>
  [[nodiscard]] T& at(std::size_t i) {
    return reinterpret_cast<T*>(bytes.data())[i];
  }
};

}  // namespace

template <>
struct cairn::adapter<tensor> {
  static any_tensor_view view(tensor& t) {
    if (!t.made) return {};
    return {t.type, t.bytes.data(), t.shape};
  }
  static bool can_be(const tensor& now, const extents& shape) { return !now.made || shape.size() <= 3; }
  static void resize(tensor& t, const extents& shape, dtype type) { t.make(type, shape); }
};

TEST_CASE("an element type that is known at run time") {
  std::vector<tensor> original;
  for (unsigned type = 0; type <= static_cast<unsigned>(cairn::dtype::f64); ++type)
    original.emplace_back(static_cast<cairn::dtype>(type), cairn::extents{2, 3});
  for (auto& each : original)
    if (each.type != cairn::dtype::boolean) each.bytes[size_of(each.type)] = std::byte{17};
  original.emplace_back();
  std::vector<tensor> fresh;
  CHECK(tests::comes_back(original, fresh));
  REQUIRE(fresh.size() == original.size());
  for (std::size_t i = 0; i + 1 < fresh.size(); ++i) {
    CHECK(fresh[i].type == original[i].type);
    CHECK(fresh[i].shape == original[i].shape);
    CHECK(fresh[i].bytes == original[i].bytes);
  }
  CHECK_FALSE(fresh.back().made);
}

TEST_CASE("a load into another element type follows the convert options") {
  tensor original(cairn::dtype::f32, {2});
  original.at<float>(1) = 0.5F;
  const tests::kept kept(original);
  tensor wider(cairn::dtype::f64, {2});
  CHECK_THROWS_WITH(kept.load(wider), ContainsSubstring("value is F32 in the checkpoint and F64"));
  const auto report = kept.load(wider, {.rename = {}, .filter = {}, .convert = cairn::conversion::widening});
  CHECK(wider.at<double>(1) == 0.5);
  CHECK(report.converted == std::vector<std::string>{"value"});
  CHECK(report.resized.empty());
  tensor other_size(cairn::dtype::f64, {5, 5});
  auto converted = tests::any_size;
  converted.convert = cairn::conversion::widening;
  kept.load(other_size, converted);
  CHECK(other_size.type == cairn::dtype::f64);
  CHECK(other_size.shape == cairn::extents{2});
  CHECK(other_size.at<double>(1) == 0.5);
}

TEST_CASE("an array that does not exist stays apart from one that does") {
  const tests::kept none(cairn::detail::describe(tensor()));
  tensor filled(cairn::dtype::f32, {2});
  filled.at<float>(0) = 3;
  CHECK_THROWS_AS(none.load(filled), cairn::error);
  CHECK(filled.shape == cairn::extents{2});
  CHECK(filled.at<float>(0) == 3);
}

TEST_CASE("an adapter decides which numbers of dimensions it takes") {
  const tests::kept four(tensor(cairn::dtype::u8, {1, 2, 1, 2}));
  tensor fresh;
  four.load(fresh);
  CHECK(fresh.shape == cairn::extents{1, 2, 1, 2});
  tensor bounded(cairn::dtype::u8, {2});
  CHECK_THROWS_WITH(four.load(bounded), ContainsSubstring("value has shape [1, 2, 1, 2]"));
  const tests::kept three(tensor(cairn::dtype::u8, {1, 2, 1}));
  three.load(bounded);
  CHECK(bounded.shape == cairn::extents{1, 2, 1});
}

TEST_CASE("complex numbers of a type that is known at run time") {
  std::vector<double> from{1, 2, 3, 4, 5, 6}, to(6);
  cairn::any_tensor_view view(cairn::dtype::f64, from.data(), {3}, {}, {}, 2);
  const tests::kept kept(view);
  CHECK(kept.contents.leaves[0].shape == cairn::extents{3, 2});
  cairn::any_tensor_view into(cairn::dtype::f64, to.data(), {3}, {}, {}, 2);
  kept.load(into);
  CHECK(to == from);
}
