// SPDX-License-Identifier: MIT
#include "cairn/adapters/eigen/sparse.hpp"

#include "cairn/adapters/eigen.hpp"
#include "state/refuses.hpp"

namespace {

using by_columns = Eigen::SparseMatrix<float>;
using by_rows = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;

/// About a third of the elements are set; not compressed unless `compressed`.
template <class Matrix>
Matrix random_matrix(Eigen::Index rows, Eigen::Index cols, std::mt19937& random, bool compressed) {
  Matrix made(rows, cols);
  made.reserve(Eigen::VectorXi::Constant(made.outerSize(), 20));
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j)
      if (random() % 3 == 0) made.insert(i, j) = static_cast<float>(random() % 100);
  if (compressed) made.makeCompressed();
  return made;
}

template <class Matrix>
bool equal(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a.nonZeros() == b.nonZeros() &&
         Eigen::MatrixXd(a.template cast<double>()) == Eigen::MatrixXd(b.template cast<double>());
}

struct state {
  Eigen::VectorXf first;
  by_columns a;
  by_rows b;
  Eigen::SparseVector<float> v;
  std::vector<by_columns> many;
};

}  // namespace

TEST_CASE("eigen: sparse matrices and vectors come back, compressed or not, into empty and filled ones") {
  std::mt19937 random(1);
  for (const Eigen::Index size : {0, 1, 7}) {
    state original;
    original.a = random_matrix<by_columns>(size, 5, random, false);
    original.b = random_matrix<by_rows>(3, size, random, true);
    original.v.resize(10 * size + 1);
    original.v.insert(10 * size) = 4;
    original.many = {original.a, by_columns(), random_matrix<by_columns>(2, 2, random, true)};
    state fresh;
    for (int i = 0; i < 2; ++i) {  // the second time into a filled one
      CHECK(tests::comes_back(original, fresh));
      CHECK(equal(fresh.a, original.a));
      CHECK(equal(fresh.b, original.b));
      CHECK(fresh.v.size() == original.v.size());
      CHECK(fresh.v.coeff(10 * size) == 4);
      REQUIRE(fresh.many.size() == 3);
      CHECK(equal(fresh.many[2], original.many[2]));
      fresh.a = random_matrix<by_columns>(4, 9, random, false);
    }
  }
}

TEST_CASE("eigen: the same sparse matrix has the same bytes, compressed or not") {
  std::mt19937 random(1), again(1);
  const tests::kept one(random_matrix<by_columns>(6, 4, random, true));
  const tests::kept two(random_matrix<by_columns>(6, 4, again, false));
  CHECK(one == two);
  CHECK(one.paths() == "data indices indptr row_major shape");
}

TEST_CASE("eigen: sparse matrices of bool and complex numbers") {
  struct {
    Eigen::SparseMatrix<bool> mask{3, 3};
    Eigen::SparseMatrix<std::complex<double>> complex{2, 2};
  } original, fresh;
  original.mask.insert(1, 2) = true;
  original.complex.insert(0, 1) = {1, 2};
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.mask.coeff(1, 2));
  CHECK(fresh.complex.coeff(0, 1) == std::complex<double>(1, 2));
}

TEST_CASE("eigen: arrays that are no sparse matrix are refused before anything is changed") {
  std::mt19937 random(3);
  state original;
  original.first = Eigen::VectorXf::Ones(3);
  original.a = random_matrix<by_columns>(6, 4, random, true);
  original.v.resize(5);
  original.v.insert(1) = 1;
  original.v.insert(3) = 1;
  REQUIRE(original.a.nonZeros() > 4);

  const auto refuses = [&](const std::string& path, const std::function<void(std::int32_t*, std::size_t)>& change) {
    tests::kept kept(original);
    auto& bytes = kept.bytes.at(path);
    change(reinterpret_cast<std::int32_t*>(bytes.data()), bytes.size() / 4);
    state into;
    tests::refuses(kept, into, cairn::errc::mismatch, "has arrays in the checkpoint that are not those");
    CHECK(into.first.size() == 0);
    CHECK(into.a.size() == 0);
  };
  refuses("a.indptr", [](auto* at, auto) { at[0] = 1; });
  refuses("a.indptr", [](auto* at, auto) { at[1] = -1; });
  refuses("a.indptr", [](auto* at, auto) { at[2] = 1 << 30; });
  refuses("a.indptr", [](auto* at, auto n) { at[n - 1] += 1; });
  refuses("a.indptr", [](auto* at, auto n) { at[n - 1] -= 1; });
  refuses("a.indices", [](auto* at, auto) { at[0] = -1; });
  refuses("a.indices", [](auto* at, auto) { at[0] = 1 << 30; });
  refuses("a.indices", [](auto* at, auto n) { at[n - 1] = 6; });
  refuses("a.indices", [&](auto* at, auto) {  // twice the same row in one column
    const auto column = original.a.outerIndexPtr();
    for (int j = 0; j < 4; ++j)
      if (column[j + 1] - column[j] > 1) at[column[j] + 1] = at[column[j]];
  });
  refuses("a.shape", [](auto* at, auto) { at[0] = 1; });                // fewer rows
  refuses("a.shape", [](auto* at, auto) { at[2] += 1; });               // more columns
  refuses("a.shape", [](auto* at, auto) { at[1] = at[3] = 1 << 30; });  // 2^62
  refuses("v.indices", [](auto* at, auto) { at[1] = 1; });
  refuses("v.indices", [](auto* at, auto) { at[1] = 5; });
  refuses("v.size", [](auto* at, auto) { at[0] = 3; });
  refuses("v.size", [](auto* at, auto) { at[1] = 1 << 30; });
}

TEST_CASE("eigen: another storage order is refused") {
  struct columns {
    Eigen::SparseMatrix<float> m{2, 3};
  } original;
  struct {
    Eigen::SparseMatrix<float, Eigen::RowMajor> m;
  } rows;
  const tests::kept kept(original);
  CHECK_THROWS_WITH(kept.load(rows), ContainsSubstring("m in kept: a sparse matrix that is stored by columns"));
}

TEST_CASE("eigen: a sparse matrix that could not be loaded is not saved") {
  by_columns m(4, 1);
  m.resizeNonZeros(2);
  m.outerIndexPtr()[1] = 2;
  m.innerIndexPtr()[0] = 3;
  m.innerIndexPtr()[1] = 1;
  CHECK_THROWS_WITH(cairn::detail::describe(m), ContainsSubstring("value: a sparse matrix whose inner indices"));
}
