#include "cairn/adapters/eigen.hpp"

#include <Eigen/Core>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cairn/save.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
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

}  // namespace

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
  CHECK(cairn::adapter<row_major>::view(by_rows).strides().empty());
}

TEST_CASE("eigen: a shape that cannot be is refused, and the object stays as it is") {
  auto matrix = counted<Eigen::MatrixXf>(3, 2);
  using as_leaf = cairn::adapter<Eigen::MatrixXf>;
  CHECK_THROWS_AS(as_leaf::resize(matrix, {6}), cairn::error);
  CHECK_THROWS_AS(as_leaf::resize(matrix, {3, 2, 1}), cairn::error);
  CHECK_THROWS_AS(as_leaf::resize(matrix, {0, ~std::uint64_t{0}}), cairn::error);
  CHECK(matrix == counted<Eigen::MatrixXf>(3, 2));
  as_leaf::resize(matrix, {3, 9});
  CHECK(matrix.cols() == 9);
  Eigen::RowVectorXf row;
  cairn::adapter<Eigen::RowVectorXf>::resize(row, {4});
  CHECK(row.size() == 4);
}

TEST_CASE("eigen: a state of every kind comes back into one of the same shapes, in place") {
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
}

TEST_CASE("eigen: an empty state takes the checkpoint's shapes") {
  const sample::scratch scratch;
  const auto at = scratch.path("once");
  const auto saved = full_state();
  cairn::save(at, saved);
  dense_state loaded;
  cairn::load(at, loaded);
  check_equal(loaded, saved);
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
      const auto report = cairn::load(scratch.path("once"), state);
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
      CHECK(report.resized.empty() == (saved == before));
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
    try {
      cairn::load(at, state);
      FAIL("loaded");
    } catch (const cairn::error& cause) {
      CHECK(cause.code() == cairn::errc::mismatch);
      const auto shape = "other has shape [4, 4] in the checkpoint and " + cairn::to_string(shape_of(other));
      CHECK_THAT(cause.what(), Catch::Matchers::ContainsSubstring(shape));
    }
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
