// SPDX-License-Identifier: MIT
// Eigen's sparse matrices and vectors as parts of a state, saved as compressed arrays.
#pragma once

#include <Eigen/SparseCore>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cairn/adapters/compressed.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <class Scalar, class Index>
struct eigen_sparse_elements {
  std::uint64_t size = 0;
  std::vector<Index> indices;
  std::vector<Scalar> data;
};

}  // namespace detail

/// Saves a sparse matrix as a copy: `shape`, `row_major`, and the compressed arrays `indptr`, `indices`, `data`, which
/// scipy.sparse takes as they are. Keeps stored zeros. errc::invalid in a save: the inner indices do not ascend.
/// errc::mismatch in a load, before anything is changed: the arrays are not of a matrix, or the storage order differs.
template <class Scalar, int Options, class Index>
struct adapter<Eigen::SparseMatrix<Scalar, Options, Index>> {
  using matrix = Eigen::SparseMatrix<Scalar, Options, Index>;
  using compressed = detail::compressed_matrix<Scalar, Index>;

  [[nodiscard]] static compressed get(const matrix& object) {
    compressed copy{{static_cast<std::uint64_t>(object.rows()), static_cast<std::uint64_t>(object.cols())},
                    matrix::IsRowMajor,
                    {0},
                    {},
                    {}};
    copy.indptr.reserve(static_cast<std::size_t>(object.outerSize()) + 1);
    copy.indices.reserve(static_cast<std::size_t>(object.nonZeros()));
    copy.data.reserve(static_cast<std::size_t>(object.nonZeros()));
    for (Eigen::Index i = 0; i < object.outerSize(); ++i) {
      const Index begin = object.outerIndexPtr()[i];
      const Index end = object.isCompressed() ? object.outerIndexPtr()[i + 1] : begin + object.innerNonZeroPtr()[i];
      copy.indices.insert(copy.indices.end(), object.innerIndexPtr() + begin, object.innerIndexPtr() + end);
      copy.data.insert(copy.data.end(), object.valuePtr() + begin, object.valuePtr() + end);
      copy.indptr.push_back(static_cast<Index>(copy.indices.size()));
    }
    if (!detail::is_matrix(copy))
      fail(errc::invalid,
           {"a sparse matrix whose inner indices are not in ascending order, or too large for their type"});
    return copy;
  }

  static void set(matrix& object, const compressed& stored) {
    if (stored.row_major != static_cast<bool>(matrix::IsRowMajor))
      fail(errc::mismatch, {"a sparse matrix that is stored by ", stored.row_major ? "rows" : "columns",
                            ": load it into one with the same storage order, and assign that"});
    if (!detail::is_matrix(stored))
      fail(errc::mismatch,
           {"has arrays in the checkpoint that are not those of a sparse matrix; leave it out with filter"});
    matrix made(static_cast<Eigen::Index>(stored.shape[0]), static_cast<Eigen::Index>(stored.shape[1]));
    made.resizeNonZeros(static_cast<Eigen::Index>(stored.indices.size()));
    std::copy(stored.indptr.begin(), stored.indptr.end(), made.outerIndexPtr());
    std::copy(stored.indices.begin(), stored.indices.end(), made.innerIndexPtr());
    std::copy(stored.data.begin(), stored.data.end(), made.valuePtr());
    object.swap(made);
  }
};

/// A sparse vector is saved as a copy: `size`, `indices` and `data`. Errors are as those of a sparse matrix.
template <class Scalar, int Options, class Index>
struct adapter<Eigen::SparseVector<Scalar, Options, Index>> {
  using vector = Eigen::SparseVector<Scalar, Options, Index>;
  using elements = detail::eigen_sparse_elements<Scalar, Index>;

  [[nodiscard]] static elements get(const vector& object) {
    const auto size = static_cast<std::uint64_t>(object.size());
    const auto count = object.nonZeros();
    elements copy{
        size, {object.innerIndexPtr(), object.innerIndexPtr() + count}, {object.valuePtr(), object.valuePtr() + count}};
    if (!detail::are_ascending(copy.indices, 0, copy.indices.size(), size))
      fail(errc::invalid, {"a sparse vector whose indices are not in ascending order"});
    return copy;
  }

  static void set(vector& object, const elements& stored) {
    if (!std::in_range<Index>(stored.size) || stored.indices.size() != stored.data.size() ||
        !detail::are_ascending(stored.indices, 0, stored.indices.size(), stored.size))
      fail(errc::mismatch,
           {"has arrays in the checkpoint that are not those of a sparse vector; leave it out with filter"});
    vector made(static_cast<Eigen::Index>(stored.size));
    made.resizeNonZeros(static_cast<Eigen::Index>(stored.indices.size()));
    std::copy(stored.indices.begin(), stored.indices.end(), made.innerIndexPtr());
    std::copy(stored.data.begin(), stored.data.end(), made.valuePtr());
    object.swap(made);
  }
};

}  // namespace cairn::inline v0_1
