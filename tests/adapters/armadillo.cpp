// SPDX-License-Identifier: MIT
#define ARMA_DONT_USE_WRAPPER  // no library of Armadillo, BLAS or LAPACK
#include "cairn/adapters/armadillo.hpp"

#include "catch.hpp"
#include "state/refuses.hpp"

namespace {

template <class T>
void fill(T& object) {
  for (arma::uword i = 0; i < object.n_elem; ++i) object(i) = static_cast<typename T::elem_type>(i + 1);
}

template <class T>
T made(auto... sizes) {
  T object(static_cast<arma::uword>(sizes)...);
  fill(object);
  return object;
}

template <class A, class B>
bool equal(const A& a, const B& b) {
  return arma::size(a) == arma::size(b) && std::equal(a.begin(), a.end(), b.begin());
}

/// A class of a program, with a member that the adapter would lose.
class weights : public arma::mat {
 public:
  [[nodiscard]] int version() const { return version_; }

 private:
  int version_ = 0;
};

}  // namespace

TEST_CASE("armadillo: matrices, vectors and cubes come back with their shapes, into empty ones and others") {
  struct state {
    arma::mat a;
    arma::fvec b;
    arma::irowvec c;
    arma::cube d;
    arma::cx_fmat e;
    arma::Mat<std::uint8_t> f;
    arma::mat::fixed<2, 2> g;
    arma::vec::fixed<3> h;
    std::vector<arma::fmat> many;
  };
  state original{made<arma::mat>(2, 3),
                 made<arma::fvec>(3),
                 made<arma::irowvec>(4),
                 made<arma::cube>(2, 3, 2),
                 {},
                 {},
                 {},
                 {},
                 {}};
  original.e = arma::cx_fmat(1, 2);
  original.e(1) = {3, 4};
  original.f = made<arma::Mat<std::uint8_t>>(3, 1);
  fill(original.g);
  fill(original.h);
  original.many = {made<arma::fmat>(2, 1), arma::fmat()};
  const tests::kept kept(original);
  const auto check = [&](state& into) {
    kept.load(into);
    CHECK(equal(into.a, original.a));
    CHECK(equal(into.b, original.b));
    CHECK(equal(into.c, original.c));
    CHECK(equal(into.d, original.d));
    CHECK(into.e(1) == std::complex<float>(3, 4));
    CHECK(equal(into.f, original.f));
    CHECK(equal(into.g, original.g));
    CHECK(equal(into.h, original.h));
    REQUIRE(into.many.size() == 2);
    CHECK(equal(into.many[0], original.many[0]));
    CHECK(into.many[1].n_elem == 0);
  };
  state fresh;
  check(fresh);
  fresh.a = arma::mat(3, 2);
  fresh.d = arma::cube(1, 1, 5);
  check(fresh);
}

TEST_CASE("armadillo: the shape is that of the matrix in rows and columns, as of one of numpy") {
  const float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  arma::fmat matrix;
  tests::kept(rows).load(matrix);
  REQUIRE((matrix.n_rows == 2 && matrix.n_cols == 3));
  CHECK(matrix(0, 1) == 2);
  CHECK(matrix(1, 0) == 4);
  const int slices[2][1][3] = {{{1, 2, 3}}, {{4, 5, 6}}};
  arma::Cube<int> cube;
  tests::kept(slices).load(cube);
  REQUIRE((cube.n_rows == 2 && cube.n_cols == 1 && cube.n_slices == 3));
  CHECK(cube(1, 0, 2) == 6);
  arma::frowvec row = {7, 8};
  arma::fvec column;
  tests::kept(row).load(column);
  CHECK(column(1) == 8);
}

TEST_CASE("armadillo: fixed objects, memory of the caller, and another number of dimensions refuse other shapes") {
  const tests::kept kept(made<arma::mat>(2, 3));
  arma::mat::fixed<3, 2> fixed;
  fill(fixed);
  tests::refuses(kept, fixed, cairn::errc::mismatch, "has shape [2, 3] in the checkpoint and [3, 2] in the state");
  CHECK(fixed(5) == 6);
  double memory[4] = {9, 9, 9, 9};
  arma::mat strict(memory, 2, 2, false, true), shared(memory, 2, 2, false, false);
  tests::refuses(kept, strict, cairn::errc::mismatch, "has shape [2, 3] in the checkpoint and [2, 2] in the state");
  CHECK(memory[0] == 9);
  tests::kept(made<arma::mat>(2, 2)).load(strict);
  CHECK(memory[3] == 4);
  arma::vec vector;
  arma::cube cube;
  tests::refuses(kept, vector, cairn::errc::mismatch, "has shape [2, 3] in the checkpoint");
  tests::refuses(kept, cube, cairn::errc::mismatch, "has shape [2, 3] in the checkpoint");
  kept.load(shared);
  CHECK(shared.n_cols == 3);
}

TEST_CASE("armadillo: sparse matrices come back; arrays that are none do not") {
  arma::sp_mat matrix(4, 3);
  matrix(3, 0) = 1;
  matrix(1, 0) = 2;
  matrix(2, 2) = 3;
  const tests::kept kept(matrix);
  CHECK(kept.paths() == "data indices indptr row_major shape");
  arma::sp_mat fresh(1, 1);
  kept.load(fresh);
  REQUIRE((fresh.n_rows == 4 && fresh.n_cols == 3 && fresh.n_nonzero == 3));
  CHECK(arma::accu(arma::abs(fresh - matrix)) == 0);
  arma::sp_mat empty;
  tests::kept(empty).load(fresh);
  CHECK(fresh.n_elem == 0);

  using compressed = cairn::detail::compressed_matrix<double, arma::uword>;
  for (const compressed& wrong :
       {compressed{{2, 2}, false, {0, 1}, {0}, {1}}, compressed{{2, 2}, false, {0, 1, 2}, {0, 2}, {1, 2}},
        compressed{{2, 2}, false, {0, 2, 2}, {1, 0}, {1, 2}}, compressed{{2, 2}, false, {0, 2, 1}, {0, 1}, {1, 2}},
        compressed{{2, 2}, true, {0, 1, 2}, {0, 1}, {1, 2}}, compressed{{~0ULL, ~0ULL}, false, {}, {}, {}},
        compressed{{2, 2}, false, {0, 1, 2}, {0, 1}, {1}}})
    tests::refuses(cairn::detail::describe(wrong), matrix, cairn::errc::mismatch, "not those of a sparse matrix");
  CHECK(matrix.n_nonzero == 3);
}

TEST_CASE("armadillo: a class of the program that is derived from a matrix is none") {
  STATIC_REQUIRE(cairn::detail::has_adapter<arma::mat>);
  STATIC_REQUIRE(cairn::detail::has_adapter<arma::vec::fixed<3>>);
  STATIC_REQUIRE_FALSE(cairn::detail::has_adapter<weights>);
  STATIC_REQUIRE(cairn::detail::category_of<weights>() == cairn::detail::category::unsupported);
}
