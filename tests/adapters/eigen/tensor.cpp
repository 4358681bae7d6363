// SPDX-License-Identifier: MIT
#include "cairn/adapters/eigen/tensor.hpp"

#include "cairn/state/state.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "state/refuses.hpp"

namespace {

template <int Options>
using cube = Eigen::Tensor<float, 3, Options>;

/// Numbers that tell every place from every other.
template <class Tensor>
void count(Tensor& tensor) {
  for (Eigen::Index i = 0; i < tensor.dimension(0); ++i)
    for (Eigen::Index j = 0; j < tensor.dimension(1); ++j)
      for (Eigen::Index k = 0; k < tensor.dimension(2); ++k) tensor(i, j, k) = static_cast<float>(100 * i + 10 * j + k);
}

template <class A, class B>
bool equal(const A& a, const B& b) {
  if (a.dimension(0) != b.dimension(0) || a.dimension(1) != b.dimension(1) || a.dimension(2) != b.dimension(2))
    return false;
  for (Eigen::Index i = 0; i < a.dimension(0); ++i)
    for (Eigen::Index j = 0; j < a.dimension(1); ++j)
      for (Eigen::Index k = 0; k < a.dimension(2); ++k)
        if (a(i, j, k) != b(i, j, k)) return false;
  return true;
}

}  // namespace

TEST_CASE("eigen: a tensor cannot have a shape whose sizes multiply beyond its index, also where one is 0") {
  using small = cairn::adapter<Eigen::Tensor<float, 3, 0, int>>;
  constexpr std::uint64_t large = 1U << 20U;
  CHECK(small::can_be({large, 0, 7}));
  CHECK_FALSE(small::can_be({large, large, 0}));
  CHECK_FALSE(small::can_be({0, large, large}));
}

TEST_CASE("eigen: tensors come back, in either storage order, into empty and filled ones") {
  struct state {
    cube<Eigen::ColMajor> columns;
    cube<Eigen::RowMajor> rows;
    Eigen::Tensor<double, 0> scalar;
    Eigen::Tensor<std::int32_t, 1> vector;
    Eigen::Tensor<std::complex<float>, 2> complex;
    Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3, 4>> fixed;
    std::vector<cube<Eigen::ColMajor>> many;
  };
  state original;
  original.columns.resize(2, 3, 4);
  count(original.columns);
  original.rows.resize(3, 1, 2);
  count(original.rows);
  original.scalar() = 5;
  original.vector.resize(3);
  original.vector.setValues({1, 2, 3});
  original.complex.resize(1, 2);
  original.complex.setConstant({1, 2});
  count(original.fixed);
  original.many = {original.columns, cube<Eigen::ColMajor>()};
  state fresh;
  fresh.fixed.setZero();
  fresh.scalar() = 0;
  CHECK(tests::comes_back(original, fresh));
  CHECK(equal(fresh.columns, original.columns));
  CHECK(equal(fresh.rows, original.rows));
  CHECK(equal(fresh.fixed, original.fixed));
  CHECK(fresh.scalar() == 5);
  fresh.columns.resize(7, 1, 1);
  CHECK(tests::comes_back(original, fresh));
  CHECK(equal(fresh.columns, original.columns));
}

TEST_CASE("eigen: the storage order of a tensor is no part of the checkpoint") {
  cube<Eigen::ColMajor> columns(2, 3, 4);
  count(columns);
  cube<Eigen::RowMajor> rows;
  tests::kept(columns).load(rows);
  CHECK(equal(rows, columns));
}

TEST_CASE("eigen: tensors of fixed size and maps keep their shape") {
  cube<Eigen::RowMajor> two(2, 3, 4), other(2, 3, 5);
  count(two);
  count(other);
  std::vector<float> memory(24, -1.0F);
  Eigen::TensorMap<cube<Eigen::RowMajor>> map(memory.data(), 2, 3, 4);
  tests::kept(two).load(map);
  CHECK(equal(map, two));
  const tests::kept larger(other);
  CHECK_THROWS_AS(larger.load(map), cairn::error);
  CHECK(equal(map, two));
  Eigen::TensorFixedSize<float, Eigen::Sizes<2, 3, 4>> fixed;
  CHECK_THROWS_AS(larger.load(fixed), cairn::error);
  Eigen::Tensor<float, 2> flat(1, 1);
  CHECK_THROWS_AS(larger.load(flat), cairn::error);
  CHECK(flat.size() == 1);
}

TEST_CASE("eigen: a view of a tensor whose memory a load frees is refused, in either storage order") {
  const auto check = [](auto tensor) {
    decltype(tensor) saved(1, 2, 2);
    count(saved);
    Eigen::Tensor<float, 1> two(2);
    two.setZero();
    const tests::kept kept(cairn::state{{"t", saved}, {"v", two}});
    tensor.resize(2, 3, 4);
    count(tensor);
    const auto before = tensor;
    Eigen::TensorMap<Eigen::Tensor<float, 1>> view(tensor.data() + 7, 2);
    cairn::state all{{"t", tensor}, {"v", view}};
    tests::refuses(kept, all, cairn::errc::mismatch, "v refers to elements of t");
    CHECK(equal(tensor, before));
  };
  check(cube<Eigen::ColMajor>());
  check(cube<Eigen::RowMajor>());
}
