// SPDX-License-Identifier: MIT
#include "cairn/state/walk_tensor.hpp"

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace {

/// A tensor as many libraries have it: data, shape, strides, resize.
class library_tensor {
 public:
  explicit library_tensor(std::vector<std::size_t> shape = {0, 0}) { resize(shape); }
  [[nodiscard]] double* data() { return values_.data(); }
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  [[nodiscard]] std::array<std::ptrdiff_t, 2> strides() const { return {1, static_cast<std::ptrdiff_t>(shape_[0])}; }
  template <class Shape>
  void resize(const Shape& shape) {
    shape_.assign(shape.begin(), shape.end());
    values_.resize(shape_[0] * shape_[1]);
  }

 private:
  std::vector<std::size_t> shape_;
  std::vector<double> values_;
};

/// A tensor of 2 x 3, which can be told to have that shape only.
class fixed_tensor {
 public:
  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] std::array<std::size_t, 2> shape() const { return {2, 3}; }
  template <class Shape>
  void resize(const Shape& shape) {
    if (shape[0] != 2 || shape[1] != 3) throw std::runtime_error("a fixed tensor");
  }

 private:
  std::array<float, 6> values_{};
};

/// A tensor of any number of dimensions. A default-made one has none, and no memory.
class any_rank_tensor {
 public:
  any_rank_tensor() = default;
  explicit any_rank_tensor(const std::vector<std::uint64_t>& shape) { resize(shape); }
  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return shape_; }
  void resize(const std::vector<std::uint64_t>& shape) {
    shape_ = shape;
    values_.assign(cairn::element_count(shape), 0.0F);
  }

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<float> values_;
};

/// A tensor of three dimensions.
class cube {
 public:
  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] std::array<std::size_t, 3> shape() const { return shape_; }
  void resize(const cairn::extents& shape) {
    for (std::size_t d = 0; d < 3; ++d) shape_[d] = shape[d];
    values_.assign(shape_[0] * shape_[1] * shape_[2], 1.0F);
  }

 private:
  std::array<std::size_t, 3> shape_{};
  std::vector<float> values_;
};

/// A vector on the heap of at most four elements. Like a null handle, one that is made with `Usable` false takes no
/// shape at all.
template <bool Usable>
class limited_tensor {
 public:
  limited_tensor() = default;
  explicit limited_tensor(std::size_t size) : values_(size), usable_(true) {}
  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] std::array<std::size_t, 1> shape() const { return {values_.size()}; }
  void resize(const cairn::extents& shape) {
    if (!usable_) throw std::logic_error("null");
    if (shape[0] > 4) throw std::length_error("at most 4");
    values_.resize(shape[0]);
  }

 private:
  std::vector<float> values_;
  bool usable_ = Usable;
};

}  // namespace

template <>
inline constexpr bool cairn::is_container<library_tensor> = true;
template <>
inline constexpr bool cairn::is_container<fixed_tensor> = true;
template <>
inline constexpr bool cairn::is_container<any_rank_tensor> = true;
template <>
inline constexpr bool cairn::is_container<cube> = true;
template <bool Usable>
inline constexpr bool cairn::is_container<limited_tensor<Usable>> = true;

TEST_CASE("a strided view is gathered and scattered") {
  std::vector<float> memory(24);
  std::iota(memory.begin(), memory.end(), 0.0F);
  cairn::tensor_view<float> transposed(memory.data(), {3, 4}, {2, 6});  // every other element, columns first
  const tests::kept kept(transposed);
  CHECK(kept.contents.leaves[0].shape == cairn::extents{3, 4});
  std::vector<float> other(12);
  cairn::tensor_view<float> packed(other.data(), {3, 4});
  kept.load(packed);
  CHECK(other == std::vector<float>{0, 6, 12, 18, 2, 8, 14, 20, 4, 10, 16, 22});
  std::vector<float> back(24, -1.0F);
  cairn::tensor_view<float> into(back.data(), {3, 4}, {2, 6});
  kept.load(into);
  for (std::size_t i = 0; i < 24; ++i) CHECK(back[i] == (i % 2 == 0 ? memory[i] : -1.0F));
}

TEST_CASE("a tensor that no machine has in memory is refused with its path") {
  struct state {
    cairn::tensor_view<float> weights;
  };
  float one = 0;
  const std::uint64_t large = std::uint64_t{1} << 40U;
  for (const cairn::extents& shape :
       {cairn::extents{large, large}, {large, 256}, {large, large, 1 << 8, 2}, {~std::uint64_t{0}}}) {
    const state refused{{&one, shape}};
    const auto failure = sample::failure_of([&] { (void)cairn::detail::describe(refused); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("weights is a tensor of shape [" + std::to_string(shape[0])));
    CHECK(failure.says("that is more than 2^48 bytes"));
  }
  CHECK_THROWS_WITH(cairn::detail::describe(state{{nullptr, {2, 3}}}),
                    ContainsSubstring("weights is a tensor of shape [2, 3] without memory"));
  const state empty{{nullptr, {large, 0, large}}};
  CHECK(cairn::detail::describe(empty).leaves.size() == 1);
}

TEST_CASE("any library's tensor is read in place and grows where it can") {
  library_tensor original({2, 3});
  for (int i = 0; i < 6; ++i) original.data()[i] = i;
  library_tensor fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.shape() == std::vector<std::size_t>{2, 3});
  CHECK(fresh.data()[5] == 5);
}

TEST_CASE("another shape than a fixed tensor can have is refused before anything is changed") {
  struct dynamic {
    std::vector<int> first{1, 2};
    library_tensor tensor{{3, 2}};
  };
  struct fixed {
    std::vector<int> first{9};
    fixed_tensor tensor;
  };
  fixed fresh;
  CHECK_THROWS_WITH(tests::kept(dynamic{}).load(fresh, {.rename = {}, .filter = {}}),
                    ContainsSubstring("tensor has shape [3, 2] in the checkpoint and [2, 3] in the state"));
  CHECK(fresh.first == std::vector<int>{9});
  CHECK(tests::comes_back(fixed{}));
}

TEST_CASE("a shape that the resize of a tensor on the heap refuses is found before anything is changed") {
  struct any {
    std::vector<int> first{1, 2};
    any_rank_tensor tensor;
  };
  struct limited {
    std::vector<int> first{9};
    limited_tensor<true> tensor;
  };
  limited fresh;
  const tests::kept large(any{{1, 2}, any_rank_tensor({5})});
  const auto refused = sample::failure_of([&] { large.load(fresh); });
  CHECK(refused.code == cairn::errc::mismatch);
  CHECK_FALSE(refused.state_changed);
  CHECK(refused.says(
      "tensor has shape [5] in the checkpoint and [0] in the state; its type refuses the shape: at most 4"));
  CHECK(fresh.first == std::vector<int>{9});
  const tests::kept small(any{{1, 2}, any_rank_tensor({3})});
  small.load(fresh);
  CHECK(fresh.tensor.shape()[0] == 3);

  // An array this large is not made to try its shape.
  const tests::kept huge(any{{1, 2}, any_rank_tensor({(1U << 20U) + 1})});
  fresh.first = {9};
  CHECK_THROWS_WITH(huge.load(fresh), Catch::Matchers::EndsWith("tensor: at most 4"));
  CHECK(fresh.first.size() == 2);

  // What another object refuses tells nothing if it refuses all.
  struct {
    std::vector<int> first;
    limited_tensor<false> tensor{1};
  } handle;
  small.load(handle);
  CHECK(handle.tensor.shape()[0] == 3);
}

TEST_CASE("two views of one buffer are stored once and come back tied") {
  struct state {
    cairn::tensor_view<float> embedding;
    cairn::tensor_view<float> output;
  };
  std::vector<float> memory{1, 2, 3, 4};
  const state tied{{memory.data(), {2, 2}}, {memory.data(), {4}}};
  const tests::kept kept(tied);
  CHECK(kept.paths() == "embedding");
  std::vector<float> a(4);
  std::vector<float> b(4);
  state apart{{a.data(), {2, 2}}, {b.data(), {4}}};
  kept.load(apart);
  CHECK(a == memory);
  CHECK(b == memory);
  state together{{a.data(), {2, 2}}, {a.data(), {4}}};
  kept.load(together);
  CHECK(a == memory);

  // The other way round: tied in the state, two arrays in the checkpoint.
  const tests::kept same(apart);
  CHECK(same.paths() == "embedding output");
  same.load(together);
  b[0] = 99;
  const tests::kept different(apart);
  CHECK_THROWS_WITH(different.load(together), ContainsSubstring("share memory in the state but differ"));
}

TEST_CASE("complex tensors have a last dimension of two") {
  std::vector<std::complex<float>> memory{{1, 2}, {3, 4}};
  cairn::tensor_view<std::complex<float>> view(memory.data(), {2});
  const tests::kept kept(view);
  CHECK(kept.contents.leaves[0].shape == cairn::extents{2, 2});
  CHECK(kept.contents.leaves[0].type == cairn::dtype::f32);
  CHECK(tests::comes_back(view, view));
}

TEST_CASE("strides must fit the shape") {
  float memory[4];
  CHECK_THROWS_WITH(cairn::detail::describe(cairn::tensor_view<float>(memory, {2, 2}, {1})),
                    ContainsSubstring("2 dimensions and 1 strides"));
}

TEST_CASE("tensors of any number of dimensions, from default-made ones") {
  std::vector<any_rank_tensor> original;
  for (const auto& shape : std::vector<cairn::extents>{{}, {3}, {0}, {2, 3}, {2, 0, 4}, {1, 1, 1, 1, 2}}) {
    original.emplace_back(shape);
    for (std::uint64_t i = 0; i < cairn::element_count(shape); ++i) original.back().data()[i] = static_cast<float>(i);
  }
  std::vector<any_rank_tensor> fresh;
  CHECK(tests::comes_back(original, fresh));
  REQUIRE(fresh.size() == original.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) CHECK(fresh[i].shape() == original[i].shape());
  CHECK(fresh[3].data()[5] == 5);
  std::vector<any_rank_tensor> default_made(original.size());
  CHECK(tests::comes_back(original, default_made));
}

TEST_CASE("a default-made tensor is an empty array") {
  const tests::kept kept(cairn::detail::describe(any_rank_tensor()));
  CHECK(kept.contents.leaves[0].shape == cairn::extents{0});
  any_rank_tensor fresh;
  kept.load(fresh);
  CHECK(fresh.shape().size() <= 1);
  any_rank_tensor vector({4});
  kept.load(vector);
  CHECK(vector.shape() == cairn::extents{0});
  const tests::kept view(cairn::detail::describe(cairn::tensor_view<float>()));
  CHECK(view.contents.leaves[0].shape == cairn::extents{0});
}

TEST_CASE("a tensor that has dimensions keeps their number") {
  const tests::kept flat(any_rank_tensor({6}));
  any_rank_tensor matrix({2, 3});
  CHECK_THROWS_AS(flat.load(matrix), cairn::error);
  cube three;
  CHECK_THROWS_AS(flat.load(three), cairn::error);
  const tests::kept stored(any_rank_tensor({1, 2, 3}));
  stored.load(three);
  CHECK(three.shape() == std::array<std::size_t, 3>{1, 2, 3});
}

TEST_CASE("two tensors that shared their memory load into default-made ones") {
  struct views {
    cairn::tensor_view<float> a, b;
  };
  std::vector<float> memory{1, 2, 3};
  const tests::kept kept(views{{memory.data(), {3}}, {memory.data(), {3}}});
  CHECK(kept.paths() == "a");
  struct {
    any_rank_tensor a, b;
  } fresh;
  kept.load(fresh);
  CHECK(fresh.b.shape() == cairn::extents{3});
  CHECK(fresh.b.data()[2] == 3);
}
