// SPDX-License-Identifier: MIT
// Eigen's sparse matrices and vectors as parts of a state, saved as compressed arrays.
#pragma once

#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// A compressed matrix; the names are those of scipy.sparse. With `row_major`, elements indptr[i] to indptr[i + 1] of
/// `indices` and `data` are the columns and the values of row i; else of column i.
template <class Scalar, class Index>
struct eigen_compressed {
  std::array<std::uint64_t, 2> shape{};
  bool row_major = false;
  std::vector<Index> indptr;
  std::vector<Index> indices;
  std::vector<Scalar> data;
};

template <class Scalar, class Index>
struct eigen_sparse_elements {
  std::uint64_t size = 0;
  std::vector<Index> indices;
  std::vector<Scalar> data;
};

/// Whether elements [begin, end) of `indices` ascend, without repetition, and are in [0, size).
template <class Index>
[[nodiscard]] bool are_ascending(const std::vector<Index>& indices, std::size_t begin, std::size_t end,
                                 std::uint64_t size) noexcept {
  for (std::size_t i = begin; i < end; ++i)
    if (indices[i] < 0 || static_cast<std::uint64_t>(indices[i]) >= size || (i > begin && indices[i] <= indices[i - 1]))
      return false;
  return true;
}

template <class Index>
[[nodiscard]] constexpr std::uint64_t largest_index() noexcept {
  return static_cast<std::uint64_t>((std::numeric_limits<Index>::max)());
}

}  // namespace detail

/// Saves a sparse matrix as a copy: `shape`, `row_major`, and the compressed arrays `indptr`, `indices`, `data`, which
/// scipy.sparse takes as they are. Keeps stored zeros. errc::invalid in a save: the inner indices do not ascend.
/// errc::mismatch in a load, before anything is changed: the arrays are not of a matrix, or the storage order differs.
template <class Scalar, int Options, class Index>
struct adapter<Eigen::SparseMatrix<Scalar, Options, Index>> {
  using matrix = Eigen::SparseMatrix<Scalar, Options, Index>;
  using compressed = detail::eigen_compressed<Scalar, Index>;

  [[nodiscard]] static compressed get(const matrix& object) {
    compressed copy;
    copy.shape = {static_cast<std::uint64_t>(object.rows()), static_cast<std::uint64_t>(object.cols())};
    copy.row_major = matrix::IsRowMajor;
    const auto count = static_cast<std::size_t>(object.nonZeros());
    copy.indices.reserve(count);
    copy.data.reserve(count);
    copy.indptr.reserve(static_cast<std::size_t>(object.outerSize()) + 1);
    copy.indptr.push_back(0);
    for (Eigen::Index i = 0; i < object.outerSize(); ++i) {
      const Index begin = object.outerIndexPtr()[i];
      const Index end = object.isCompressed() ? object.outerIndexPtr()[i + 1] : begin + object.innerNonZeroPtr()[i];
      copy.indices.insert(copy.indices.end(), object.innerIndexPtr() + begin, object.innerIndexPtr() + end);
      copy.data.insert(copy.data.end(), object.valuePtr() + begin, object.valuePtr() + end);
      const auto first = static_cast<std::size_t>(copy.indptr.back());
      copy.indptr.push_back(static_cast<Index>(copy.indices.size()));
      if (!detail::are_ascending(copy.indices, first, copy.indices.size(),
                                 static_cast<std::uint64_t>(object.innerSize())))
        fail(errc::invalid, {"a sparse matrix whose inner indices are not in ascending order"});
    }
    return copy;
  }

  static void set(matrix& object, const compressed& stored) {
    check(stored);
    matrix made(static_cast<Eigen::Index>(stored.shape[0]), static_cast<Eigen::Index>(stored.shape[1]));
    made.resizeNonZeros(static_cast<Eigen::Index>(stored.indices.size()));
    std::copy(stored.indptr.begin(), stored.indptr.end(), made.outerIndexPtr());
    std::copy(stored.indices.begin(), stored.indices.end(), made.innerIndexPtr());
    std::copy(stored.data.begin(), stored.data.end(), made.valuePtr());
    object.swap(made);
  }

 private:
  static void check(const compressed& stored) {
    if (stored.row_major != static_cast<bool>(matrix::IsRowMajor))
      fail(errc::mismatch, {"a sparse matrix that is stored by ", stored.row_major ? "rows" : "columns",
                            ": load it into one with the same storage order, and assign that"});
    const std::uint64_t most = detail::largest_index<Index>();
    const std::uint64_t outer = stored.shape[stored.row_major ? 0 : 1], inner = stored.shape[stored.row_major ? 1 : 0];
    bool fits = stored.shape[0] <= most && stored.shape[1] <= most && stored.indptr.size() == outer + 1 &&
                stored.indptr.front() == 0 && stored.indices.size() == stored.data.size() &&
                static_cast<std::uint64_t>(stored.indptr.back()) == stored.indices.size() &&
                std::is_sorted(stored.indptr.begin(), stored.indptr.end());
    for (std::size_t i = 0; fits && i < outer; ++i)
      fits = detail::are_ascending(stored.indices, static_cast<std::size_t>(stored.indptr[i]),
                                   static_cast<std::size_t>(stored.indptr[i + 1]), inner);
    if (!fits)
      fail(errc::mismatch,
           {"has arrays in the checkpoint that are not those of a sparse matrix; leave it out with filter"});
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
    if (stored.size > detail::largest_index<Index>() || stored.indices.size() != stored.data.size() ||
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
