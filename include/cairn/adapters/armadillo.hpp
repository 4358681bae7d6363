// SPDX-License-Identifier: MIT
// Armadillo's matrices, vectors and cubes as leaves of a state, and its sparse matrices as compressed arrays.
#pragma once

#include <algorithm>
#include <armadillo>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "cairn/adapters/compressed.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// Mat, Col, Row and Cube, also fixed ones; no classes that a program derives from these.
template <class T>
concept armadillo_dense = requires { typename T::elem_type; } &&
                          (std::derived_from<T, arma::Mat<typename T::elem_type>> ||
                           std::derived_from<T, arma::Cube<typename T::elem_type>>) &&
                          type_name_view<T>().starts_with("arma::");

}  // namespace detail

/// The shape is [rows, columns], of a Cube [rows, columns, slices], so that a matrix of numpy or Eigen has the same; of
/// a Col or Row it is [n]. Vectors are saved and loaded in place; others are gathered and scattered, as they are
/// column-major. A load resizes the object as `reshaping` says. errc::mismatch, before anything is changed: it has
/// another shape and is fixed, or in memory of the caller that cannot change its size.
template <detail::armadillo_dense Dense>
struct adapter<Dense> {
  using scalar = typename Dense::elem_type;
  static constexpr bool is_cube = std::derived_from<Dense, arma::Cube<scalar>>;
  static constexpr bool is_vector =
      std::derived_from<Dense, arma::Col<scalar>> || std::derived_from<Dense, arma::Row<scalar>>;

  [[nodiscard]] static tensor_view<scalar> view(Dense& object) {
    const auto step = static_cast<std::int64_t>(object.n_rows), columns = static_cast<std::int64_t>(object.n_cols);
    if constexpr (is_vector)
      return {object.memptr(), shape_of(object)};
    else if constexpr (is_cube)
      return {object.memptr(), shape_of(object), {1, step, step * columns}};
    else
      return {object.memptr(), shape_of(object), {1, step}};
  }

  [[nodiscard]] static bool can_be(const Dense& object, const extents& shape) {
    const extents now = shape_of(object);
    const auto fits = [](std::uint64_t n) { return std::in_range<arma::uword>(n); };
    return object.mem_state < 2 ? shape.size() == now.size() && std::ranges::all_of(shape, fits) : shape == now;
  }

  /// Resizes `object`; its values are then unspecified.
  static void resize(Dense& object, const extents& shape) {
    const auto n = [&](std::size_t d) { return static_cast<arma::uword>(shape[d]); };
    if constexpr (is_vector)
      object.set_size(n(0));
    else if constexpr (is_cube)
      object.set_size(n(0), n(1), n(2));
    else
      object.set_size(n(0), n(1));
  }

 private:
  [[nodiscard]] static extents shape_of(const Dense& object) {
    if constexpr (is_vector)
      return {object.n_elem};
    else if constexpr (is_cube)
      return {object.n_rows, object.n_cols, object.n_slices};
    else
      return {object.n_rows, object.n_cols};
  }
};

/// Saves a sparse matrix as a copy: `shape`, `row_major` and the compressed arrays `indptr`, `indices` and `data`, as
/// for Eigen. errc::mismatch in a load, before anything is changed: the arrays are not of a matrix stored by columns.
template <class Scalar>
struct adapter<arma::SpMat<Scalar>> {
  using compressed = detail::compressed_matrix<Scalar, arma::uword>;

  [[nodiscard]] static compressed get(const arma::SpMat<Scalar>& object) {
    object.sync();  // the elements that were set one by one are in a cache
    return {{object.n_rows, object.n_cols},
            false,
            {object.col_ptrs, object.col_ptrs + object.n_cols + 1},
            {object.row_indices, object.row_indices + object.n_nonzero},
            {object.values, object.values + object.n_nonzero}};
  }

  static void set(arma::SpMat<Scalar>& object, const compressed& stored) {
    if (stored.row_major || !detail::is_matrix(stored))
      fail(errc::mismatch,
           {"has arrays in the checkpoint that are not those of a sparse matrix that is stored by columns; "
            "leave it out with filter"});
    object = arma::SpMat<Scalar>(arma::Col<arma::uword>(stored.indices), arma::Col<arma::uword>(stored.indptr),
                                 arma::Col<Scalar>(stored.data), static_cast<arma::uword>(stored.shape[0]),
                                 static_cast<arma::uword>(stored.shape[1]));
  }
};

}  // namespace cairn::inline v0_1
