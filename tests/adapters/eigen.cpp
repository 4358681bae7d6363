// SPDX-License-Identifier: MIT
#include "cairn/adapters/eigen.hpp"

#include <Eigen/Core>

#include "cairn/save.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
#include "state/refuses.hpp"
#include "store/sample.hpp"

namespace {

using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using bounded = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 9>;

template <class Dense>
cairn::extents shape_of(Dense object) {
  return cairn::adapter<Dense>::view(object).shape();
}

/// Numbers that tell every place from every other.
template <class Dense>
Dense counted(Eigen::Index rows, Eigen::Index cols) {
  Dense made(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j)
      made(i, j) = static_cast<typename Dense::Scalar>(static_cast<float>(100 * i + j));
  return made;
}

struct dense_state {
  Eigen::MatrixXf by_columns;
  row_major by_rows;
  Eigen::Matrix3d fixed;
  Eigen::Matrix<std::int32_t, 2, 4, Eigen::RowMajor> fixed_by_rows;
  Eigen::VectorXd column;
  Eigen::RowVectorXf row;
  Eigen::ArrayXXi array;
  Eigen::Array4f fixed_array;
  Eigen::MatrixXcf complex;
  std::vector<Eigen::MatrixXf> layers;
  float last = 0;
};

dense_state full_state() {
  return {counted<Eigen::MatrixXf>(3, 5),
          counted<row_major>(4, 2),
          counted<Eigen::Matrix3d>(3, 3),
          counted<Eigen::Matrix<std::int32_t, 2, 4, Eigen::RowMajor>>(2, 4),
          counted<Eigen::VectorXd>(7, 1),
          counted<Eigen::RowVectorXf>(1, 6),
          counted<Eigen::ArrayXXi>(2, 3),
          counted<Eigen::Array4f>(4, 1),
          counted<Eigen::MatrixXcf>(2, 2) * std::complex<float>(1, 2),
          {counted<Eigen::MatrixXf>(2, 3), counted<Eigen::MatrixXf>(0, 3), counted<Eigen::MatrixXf>(1, 1)},
          3.5F};
}

void check_equal(const dense_state& a, const dense_state& b) {
  CHECK(a.by_columns == b.by_columns);
  CHECK(a.by_rows == b.by_rows);
  CHECK(a.fixed == b.fixed);
  CHECK(a.fixed_by_rows == b.fixed_by_rows);
  CHECK(a.column == b.column);
  CHECK(a.row == b.row);
  CHECK((a.array == b.array).all());
  CHECK((a.fixed_array == b.fixed_array).all());
  CHECK(a.complex == b.complex);
  REQUIRE(a.layers.size() == b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    REQUIRE(a.layers[i].rows() == b.layers[i].rows());
    REQUIRE(a.layers[i].cols() == b.layers[i].cols());
    CHECK(a.layers[i] == b.layers[i]);
  }
  CHECK(a.last == b.last);
}

TEST_CASE("eigen: matrices have two dimensions, vectors one") {
  CHECK(shape_of(Eigen::MatrixXf(3, 5)) == cairn::extents{3, 5});
  CHECK(shape_of(row_major(3, 5)) == cairn::extents{3, 5});
  CHECK(shape_of(Eigen::Matrix<double, 2, 4>()) == cairn::extents{2, 4});
  CHECK(shape_of(Eigen::ArrayXXi(0, 4)) == cairn::extents{0, 4});
  CHECK(shape_of(Eigen::VectorXf(6)) == cairn::extents{6});
  CHECK(shape_of(Eigen::RowVector3d()) == cairn::extents{3});
}

TEST_CASE("eigen: a view is of the object's own memory, in its own order") {
  Eigen::MatrixXf by_columns(3, 5);
  const auto strided = cairn::adapter<Eigen::MatrixXf>::view(by_columns);
  CHECK(strided.data() == by_columns.data());
  CHECK(strided.strides() == std::vector<std::int64_t>{1, 3});
  row_major by_rows(3, 5);
  CHECK(cairn::adapter<row_major>::view(by_rows).strides() == std::vector<std::int64_t>{5, 1});
}

TEST_CASE("eigen: a state of every kind comes back into one of the same shapes, in place, and into an empty one") {
  const sample::scratch scratch;
  const auto at = scratch.path("once");
  const auto saved = full_state();
  cairn::save(at, saved);
  auto loaded = saved;
  loaded.by_columns.setZero();
  loaded.by_rows.setZero();
  loaded.fixed.setZero();
  loaded.row.setZero();
  loaded.layers[0].setZero();
  const float* const memory = loaded.by_columns.data();
  cairn::load(at, loaded);
  check_equal(loaded, saved);
  CHECK(loaded.by_columns.data() == memory);
  dense_state empty;
  cairn::load(at, empty);
  check_equal(empty, saved);
}

TEST_CASE("eigen: the order in memory is no part of the checkpoint") {
  struct by_columns {
    Eigen::MatrixXf weight;
  };
  struct by_rows {
    row_major weight;
  };
  const sample::scratch scratch;
  const auto at = scratch.path("once");
  cairn::save(at, by_columns{counted<Eigen::MatrixXf>(3, 5)});
  by_rows loaded;
  cairn::load(at, loaded);
  CHECK(loaded.weight == counted<row_major>(3, 5));
}

TEST_CASE("eigen: which shapes an object can have") {
  const auto can_be = []<class Dense>(const Dense&, const cairn::extents& shape) {
    return cairn::adapter<Dense>::can_be(shape);
  };
  CHECK(can_be(Eigen::MatrixXf(), {0, 7}));
  CHECK_FALSE(can_be(Eigen::MatrixXf(), {7}));
  CHECK_FALSE(can_be(Eigen::MatrixXf(), {7, 7, 1}));
  CHECK_FALSE(can_be(Eigen::MatrixXf(), {std::uint64_t{1} << 63U, 0}));
  CHECK(can_be(Eigen::Matrix3d(), {3, 3}));
  CHECK_FALSE(can_be(Eigen::Matrix3d(), {3, 4}));
  CHECK(can_be(Eigen::Matrix3Xf(), {3, 1000}));
  CHECK_FALSE(can_be(Eigen::Matrix3Xf(), {4, 1000}));
  CHECK(can_be(Eigen::MatrixX3f(), {0, 3}));
  CHECK_FALSE(can_be(Eigen::MatrixX3f(), {3, 0}));
  CHECK(can_be(bounded(), {3, 9}));
  CHECK(can_be(bounded(), {0, 0}));
  CHECK_FALSE(can_be(bounded(), {4, 9}));
  CHECK_FALSE(can_be(bounded(), {3, 10}));
  CHECK(can_be(Eigen::RowVector3d(), {3}));
  CHECK_FALSE(can_be(Eigen::RowVector3d(), {4}));
  CHECK(can_be(Eigen::VectorXd(), {4}));
  CHECK_FALSE(can_be(Eigen::VectorXd(), {4, 1}));
  CHECK(can_be(Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 8, 1>(), {8}));
  CHECK_FALSE(can_be(Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 8, 1>(), {9}));
}

TEST_CASE("eigen: what is fixed or bounded in part grows and shrinks in the rest") {
  struct points {
    Eigen::Matrix3Xf by_columns;
    Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> by_rows;
    bounded at_most;
    Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 8, 1> short_vector;
    std::vector<Eigen::Matrix3Xf> many;
  };
  const auto made = [](Eigen::Index n) {
    return points{
        counted<Eigen::Matrix3Xf>(3, n), counted<Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>>(n, 2),
        counted<bounded>(n % 3 + 1, n % 9), counted<Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 8, 1>>(n % 8, 1),
        std::vector<Eigen::Matrix3Xf>(static_cast<std::size_t>(n), counted<Eigen::Matrix3Xf>(3, n))};
  };
  const sample::scratch scratch;
  for (const Eigen::Index saved : {7, 0, 2})
    for (const Eigen::Index before : {0, 2, 7, 11}) {
      cairn::save(scratch.path("once"), made(saved), {.durable = false});
      auto state = made(before);
      const auto report = cairn::load(scratch.path("once"), state, {.reshape = tests::any_size.reshape});
      const auto wanted = made(saved);
      REQUIRE(state.by_columns.cols() == saved);
      REQUIRE(state.by_rows.rows() == saved);
      REQUIRE(shape_of(state.at_most) == shape_of(wanted.at_most));
      REQUIRE(state.short_vector.size() == wanted.short_vector.size());
      CHECK(state.by_columns == wanted.by_columns);
      CHECK(state.by_rows == wanted.by_rows);
      CHECK(state.at_most == wanted.at_most);
      CHECK(state.short_vector == wanted.short_vector);
      CHECK(state.many == wanted.many);
      CHECK(report.resized.empty() == (saved == before || before == 0));
    }
}

TEST_CASE("eigen: a dimension that is fixed or bounded refuses another size, and nothing is changed") {
  struct large {
    Eigen::MatrixXf weight;
    Eigen::MatrixXf other;
  };
  const sample::scratch scratch;
  const auto at = scratch.path("once");
  cairn::save(at, large{counted<Eigen::MatrixXf>(4, 4), counted<Eigen::MatrixXf>(4, 4)});

  const auto refuses = [&]<class Other>(Other other) {
    struct small {
      Eigen::MatrixXf weight;
      Other other;
    };
    small state{counted<Eigen::MatrixXf>(2, 2), other};
    const float* const memory = state.weight.data();
    const auto failure = sample::failure_of([&] { cairn::load(at, state); });
    CHECK(failure.code == cairn::errc::mismatch);
    const auto shape = "other has shape [4, 4] in the checkpoint and " + cairn::to_string(shape_of(other));
    CHECK_THAT(failure.sentence, ContainsSubstring(shape));
    REQUIRE(state.weight.size() == 4);
    CHECK(state.weight.data() == memory);
    CHECK(state.weight == counted<Eigen::MatrixXf>(2, 2));
    CHECK(state.other == other);
  };
  refuses(counted<Eigen::Matrix3f>(3, 3));
  refuses(counted<Eigen::Matrix3Xf>(3, 4));
  refuses(counted<bounded>(3, 4));
  refuses(counted<Eigen::MatrixX3f>(4, 3));
}

using every_other = Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<2>>;
using padded = Eigen::Map<row_major, 0, Eigen::OuterStride<>>;
using strided = Eigen::Map<Eigen::MatrixXf, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// The memory that views are of: -1 where no view reaches.
struct viewed {
  std::vector<float> memory = std::vector<float>(200, -1.0F);
  Eigen::MatrixXf matrix = Eigen::MatrixXf::Constant(6, 6, -1.0F);

  struct views {
    Eigen::Map<Eigen::MatrixXf> map;
    every_other vector;
    padded rows;
    strided both;
    Eigen::Map<Eigen::Matrix3f> fixed;
    Eigen::Ref<Eigen::MatrixXf> ref;
    Eigen::Block<Eigen::MatrixXf> block;
    Eigen::VectorBlock<Eigen::VectorXf> segment;
  };
  Eigen::VectorXf whole = Eigen::VectorXf::Constant(9, -1.0F);

  views all() {
    float* const at = memory.data();
    return {Eigen::Map<Eigen::MatrixXf>(at, 2, 3),
            every_other(at + 10, 4),
            padded(at + 20, 3, 2, Eigen::OuterStride<>(5)),
            strided(at + 40, 2, 3, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(7, 2)),
            Eigen::Map<Eigen::Matrix3f>(at + 80),
            matrix.topLeftCorner(2, 3),
            matrix.block(3, 2, 2, 3),
            whole.segment(2, 4)};
  }
  /// Gives all elements that the views see different values.
  void fill() {
    auto every = all();
    float next = 0;
    const auto count = [&](auto& view) {
      for (Eigen::Index i = 0; i < view.rows(); ++i)
        for (Eigen::Index j = 0; j < view.cols(); ++j) view(i, j) = ++next;
    };
    count(every.map), count(every.rows), count(every.both), count(every.fixed), count(every.ref), count(every.block);
    for (Eigen::Index i = 0; i < 4; ++i) every.vector(i) = ++next, every.segment(i) = ++next;
  }
  friend bool operator==(const viewed& a, const viewed& b) {
    return a.memory == b.memory && a.matrix == b.matrix && a.whole == b.whole;
  }
};

}  // namespace

TEST_CASE("eigen: views are saved from their memory and loaded into it, and into nothing beside it") {
  viewed original;
  original.fill();
  auto saved = original.all();
  const tests::kept kept(saved);
  viewed fresh;
  auto into = fresh.all();
  const auto report = kept.load(into);
  CHECK(fresh == original);
  CHECK(report.resized.empty());
  CHECK(tests::kept(into) == kept);

  struct {
    row_major map;
    Eigen::VectorXf vector;
    Eigen::MatrixXf rows, both;
    Eigen::Matrix3f fixed;
    Eigen::MatrixXf ref, block;
    Eigen::VectorXf segment;
  } matrices;
  kept.load(matrices);
  CHECK(matrices.map == saved.map);
  CHECK(matrices.vector == saved.vector);
  CHECK(matrices.both == saved.both);
  CHECK(matrices.block == saved.block);
}

TEST_CASE("eigen: diagonals of matrices are views") {
  struct matrices {
    Eigen::MatrixXf square = Eigen::MatrixXf::Constant(4, 4, -1.0F);
    Eigen::Matrix<double, 3, 5, Eigen::RowMajor> wide = Eigen::Matrix<double, 3, 5, Eigen::RowMajor>::Constant(-1);
  };
  struct views {
    Eigen::Diagonal<Eigen::MatrixXf> main;
    Eigen::Diagonal<Eigen::MatrixXf, -2> lower;
    Eigen::Diagonal<Eigen::MatrixXf, Eigen::DynamicIndex> chosen;
    Eigen::Diagonal<Eigen::Matrix<double, 3, 5, Eigen::RowMajor>, 1> upper;
  };
  const auto all = [](matrices& of) {
    return views{of.square.diagonal(), of.square.diagonal<-2>(), of.square.diagonal(3), of.wide.diagonal<1>()};
  };
  matrices original, fresh;
  auto saved = all(original), into = all(fresh);
  saved.main = counted<Eigen::VectorXf>(4, 1);
  saved.lower = Eigen::Vector2f(7, 8);
  saved.chosen(0) = 9;
  saved.upper = Eigen::Vector3d(10, 11, 12);
  const tests::kept kept(saved);
  CHECK(kept.contents.leaves[kept.contents.find("upper")].shape == cairn::extents{3});
  kept.load(into);
  CHECK(fresh.square == original.square);
  CHECK(fresh.wide == original.wide);
  CHECK(fresh.square(1, 0) == -1);
  CHECK(fresh.square(2, 2) == original.square(2, 2));

  struct {
    Eigen::VectorXf main;
    Eigen::DiagonalMatrix<float, 2> lower;
    std::vector<float> chosen;
    std::array<double, 3> upper;
  } copies;
  kept.load(copies);
  CHECK(copies.main == counted<Eigen::VectorXf>(4, 1));
  CHECK(copies.lower.diagonal() == Eigen::Vector2f(7, 8));
  Eigen::MatrixXf small(3, 3);
  struct {
    Eigen::Diagonal<Eigen::MatrixXf> main;
  } other{small.diagonal()};
  tests::refuses(kept, other, cairn::errc::mismatch, "main has shape [4] in the checkpoint and [3] in the state");
}

TEST_CASE("eigen: a view keeps its size") {
  viewed memory;
  const auto refuses = [&]<class View, class Stored>(View view, const Stored& stored) {
    struct {
      Stored weight;
    } saved{stored};
    const tests::kept kept(saved);
    struct {
      View weight;
    } into{view};
    CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("weight has shape " + cairn::to_string(shape_of(stored))));
    CHECK(memory == viewed{});
  };
  auto views = memory.all();
  const auto matrix = counted<Eigen::MatrixXf>(4, 4);
  refuses(views.map, matrix);
  refuses(views.ref, matrix);
  refuses(views.block, matrix);
  refuses(views.fixed, matrix);
  for (const Eigen::Index size : {2, 8}) {
    refuses(views.vector, counted<Eigen::VectorXf>(size, 1));
    refuses(views.segment, counted<Eigen::VectorXf>(size, 1));
    refuses(Eigen::Ref<Eigen::VectorXf>(memory.whole), counted<Eigen::VectorXf>(size, 1));
  }
}

TEST_CASE("eigen: diagonal matrices, permutations, and small floats") {
  struct state {
    Eigen::DiagonalMatrix<float, Eigen::Dynamic> diagonal;
    Eigen::DiagonalMatrix<double, 3> fixed{1, 2, 3};
    Eigen::PermutationMatrix<Eigen::Dynamic> permutation;
    Eigen::PermutationMatrix<3> fixed_permutation{Eigen::Vector3i(0, 1, 2)};
    Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic> halves;
    Eigen::Matrix<Eigen::bfloat16, 1, Eigen::Dynamic> brains;
    std::vector<Eigen::PermutationMatrix<Eigen::Dynamic>> many;
  };
  state original;
  original.diagonal.diagonal() = counted<Eigen::VectorXf>(4, 1);
  original.fixed.diagonal() << 4, 5, 6;
  original.permutation.indices() = Eigen::Vector4i(3, 1, 0, 2);
  original.fixed_permutation.indices() = Eigen::Vector3i(2, 0, 1);
  original.halves.setConstant(2, 3, Eigen::half(0.5F));
  original.brains.setConstant(4, Eigen::bfloat16(3.0F));
  original.many = {original.permutation, {}};
  const tests::kept kept(original);
  CHECK(kept.contents.leaves[kept.contents.find("halves")].type == cairn::dtype::f16);
  CHECK(kept.contents.leaves[kept.contents.find("brains")].type == cairn::dtype::bf16);
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.diagonal.diagonal() == original.diagonal.diagonal());
  CHECK(fresh.fixed.diagonal() == original.fixed.diagonal());
  CHECK(fresh.permutation.indices() == original.permutation.indices());
  CHECK(fresh.fixed_permutation.indices() == original.fixed_permutation.indices());
  CHECK(fresh.halves == original.halves);
  REQUIRE(fresh.many.size() == 2);
  CHECK(fresh.many[0].indices() == original.permutation.indices());
}

TEST_CASE("eigen: indices that are no permutation change nothing") {
  struct state {
    Eigen::VectorXf first;
    Eigen::PermutationMatrix<Eigen::Dynamic> permutation;
  };
  struct stored {
    Eigen::VectorXf first = counted<Eigen::VectorXf>(5, 1);
    std::vector<int> permutation;
  };
  for (const auto& indices : std::vector<std::vector<int>>{{1, 1}, {0, 2}, {-1, 0}, {0, 1, 2, 1000000000}}) {
    stored bad;
    bad.permutation = indices;
    const tests::kept kept(bad);
    state into;
    tests::refuses(kept, into, cairn::errc::mismatch, "permutation in kept: has indices in the checkpoint that are no");
    CHECK(into.first.size() == 0);
  }
  stored three;
  three.permutation = {1, 0, 2};
  const tests::kept good(three);
  state into;
  good.load(into);
  CHECK(into.permutation.indices() == Eigen::Vector3i(1, 0, 2));
  struct {
    Eigen::VectorXf first;
    Eigen::PermutationMatrix<2> permutation{Eigen::Vector2i(0, 1)};
  } small;
  CHECK_THROWS_WITH(
      good.load(small),
      ContainsSubstring("has 3 elements in the checkpoint, and the permutation in the state has 2; give it that "
                        "size, or leave it out with filter"));
}

TEST_CASE("eigen: matrices in containers, optionals and pointers, aligned as Eigen needs it") {
  struct state {
    std::vector<Eigen::Matrix4f> aligned;
    std::vector<Eigen::Vector4d, Eigen::aligned_allocator<Eigen::Vector4d>> with_allocator;
    std::optional<Eigen::MatrixXf> maybe;
    std::optional<Eigen::Matrix4f> maybe_fixed;
    std::unique_ptr<Eigen::Matrix4f> owned;
    std::map<int, Eigen::MatrixXf> named;
  };
  state original;
  original.aligned = {counted<Eigen::Matrix4f>(4, 4), -counted<Eigen::Matrix4f>(4, 4)};
  original.with_allocator = {Eigen::Vector4d(1, 2, 3, 4)};
  original.maybe = counted<Eigen::MatrixXf>(3, 2);
  original.maybe_fixed = counted<Eigen::Matrix4f>(4, 4);
  original.owned = std::make_unique<Eigen::Matrix4f>(counted<Eigen::Matrix4f>(4, 4));
  original.named[-3] = counted<Eigen::MatrixXf>(1, 2);
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.aligned == original.aligned);
  CHECK(*fresh.maybe == *original.maybe);
  CHECK(*fresh.owned == *original.owned);
  CHECK(fresh.named == original.named);
  CHECK(tests::comes_back(state{}, fresh));
  CHECK_FALSE(fresh.maybe);
}

TEST_CASE("the message for a shape that the type cannot have does not ask for that shape") {
  struct saved {
    Eigen::Matrix3d m = Eigen::Matrix3d::Zero();
  };
  struct bounded {
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2, 2> m;
  } loaded;
  CHECK_THROWS_WITH(tests::kept(saved{}).load(loaded),
                    ContainsSubstring("m has shape [3, 3] in the checkpoint and [0, 0] in the state; its type cannot "
                                      "have that shape: make it one that can; leave it out with filter."));
}

TEST_CASE("a view of a matrix whose memory a load frees is refused, in either storage order and for complex numbers") {
  const auto check = [](auto matrix) {
    using type = decltype(matrix);
    using vector = Eigen::Matrix<typename type::Scalar, Eigen::Dynamic, 1>;
    type saved = type::Ones(2, 2);
    vector two = vector::Ones(2);
    const tests::kept kept(cairn::state{{"m", saved}, {"v", two}});
    matrix = type::Zero(3, 3);
    Eigen::Map<vector> view(matrix.data() + 7, 2);
    cairn::state all{{"m", matrix}, {"v", view}};
    tests::refuses(kept, all, cairn::errc::mismatch, "v refers to elements of m");
    CHECK(matrix == type::Zero(3, 3));
  };
  check(Eigen::MatrixXd());
  check(Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>());
  check(Eigen::MatrixXcf());
}
