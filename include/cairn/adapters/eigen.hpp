// SPDX-License-Identifier: MIT
// Eigen's dense matrices, vectors and arrays as leaves of a state, saved and loaded in place, and views of them.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <class T>
concept eigen_dense = std::derived_from<T, Eigen::PlainObjectBase<T>>;

/// A matrix, or a view of a matrix or of other memory.
template <class T>
concept eigen_in_memory = requires(T& object) {
  object.data();
  object.innerStride();
  object.outerStride();
};

/// Whether a dimension can be `n`, if it is fixed to `size` and at most `most`; Eigen::Dynamic means no such limit.
[[nodiscard]] constexpr bool eigen_can_be(std::uint64_t n, Eigen::Index size, Eigen::Index most) noexcept {
  if (size != Eigen::Dynamic) return n == static_cast<std::uint64_t>(size);
  return std::in_range<Eigen::Index>(n) && (most == Eigen::Dynamic || n <= static_cast<std::uint64_t>(most));
}

/// Eigen's two-byte floats have Cairn's format, in a type of their own.
template <class Scalar>
[[nodiscard]] auto eigen_view(Scalar* memory, extents shape, std::vector<std::int64_t> strides = {}) {
  if constexpr (std::same_as<Scalar, Eigen::half>)
    return any_tensor_view(dtype::f16, memory, std::move(shape), std::move(strides));
  else if constexpr (std::same_as<Scalar, Eigen::bfloat16>)
    return any_tensor_view(dtype::bf16, memory, std::move(shape), std::move(strides));
  else
    return tensor_view<Scalar>(memory, std::move(shape), std::move(strides));
}

/// The shape is [rows, cols] in either storage order, so that a column-major matrix loads into a row-major one; a
/// vector is [n].
template <eigen_in_memory Object>
[[nodiscard]] auto eigen_matrix_view(Object& object) {
  const auto rows = static_cast<std::uint64_t>(object.rows()), cols = static_cast<std::uint64_t>(object.cols());
  if constexpr (Object::IsVectorAtCompileTime)
    return eigen_view(object.data(), {rows * cols}, {object.innerStride()});
  else if constexpr (Object::IsRowMajor)
    return eigen_view(object.data(), {rows, cols}, {object.outerStride(), object.innerStride()});
  else
    return eigen_view(object.data(), {rows, cols}, {object.innerStride(), object.outerStride()});
}

/// The views that have an adapter: of a matrix, of a part of one, or of other memory.
template <class T>
inline constexpr bool is_eigen_view = false;
template <class Plain, int Options, class Stride>
inline constexpr bool is_eigen_view<Eigen::Map<Plain, Options, Stride>> = true;
template <class Plain, int Options, class Stride>
inline constexpr bool is_eigen_view<Eigen::Ref<Plain, Options, Stride>> = true;
template <class Matrix, int Rows, int Cols, bool InnerPanel>
inline constexpr bool is_eigen_view<Eigen::Block<Matrix, Rows, Cols, InnerPanel>> = true;
template <class Vector, int Size>
inline constexpr bool is_eigen_view<Eigen::VectorBlock<Vector, Size>> = true;
template <eigen_dense Matrix, int Index>  // Eigen tells a wrong stride for diagonals of views
inline constexpr bool is_eigen_view<Eigen::Diagonal<Matrix, Index>> = true;

}  // namespace detail

/// Every Eigen::Matrix and Eigen::Array. Vectors and row-major matrices are saved and loaded in place; column-major
/// ones are gathered and scattered. A load resizes dynamic dimensions as `reshaping` says. errc::mismatch, before
/// anything is changed: a fixed or bounded dimension (Matrix3d, Matrix3Xf) cannot take the stored size.
template <detail::eigen_dense Dense>
struct adapter<Dense> {
  [[nodiscard]] static auto view(Dense& object) { return detail::eigen_matrix_view(object); }

  /// Whether a Dense can have this shape.
  [[nodiscard]] static bool can_be(const extents& shape) noexcept {
    if constexpr (Dense::IsVectorAtCompileTime) {
      return shape.size() == 1 && detail::eigen_can_be(shape[0], Dense::SizeAtCompileTime, Dense::MaxSizeAtCompileTime);
    } else {
      return shape.size() == 2 &&
             detail::eigen_can_be(shape[0], Dense::RowsAtCompileTime, Dense::MaxRowsAtCompileTime) &&
             detail::eigen_can_be(shape[1], Dense::ColsAtCompileTime, Dense::MaxColsAtCompileTime);
    }
  }

  /// Gives `object` a shape that it can have; its values are then unspecified.
  static void resize(Dense& object, const extents& shape)
  requires(Dense::SizeAtCompileTime == Eigen::Dynamic)
  {
    if constexpr (Dense::IsVectorAtCompileTime)
      object.resize(static_cast<Eigen::Index>(shape[0]));
    else
      object.resize(static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
  }
};

/// A view is saved from the memory that it is of, and loaded into it. The shape cannot change: another one is
/// errc::mismatch.
template <class View>
requires detail::is_eigen_view<View> && detail::eigen_in_memory<View>
struct adapter<View> {
  [[nodiscard]] static auto view(View& object) { return detail::eigen_matrix_view(object); }
};

/// A diagonal matrix is its diagonal, [n].
template <class Scalar, int Size, int MaxSize>
struct adapter<Eigen::DiagonalMatrix<Scalar, Size, MaxSize>> {
  using matrix = Eigen::DiagonalMatrix<Scalar, Size, MaxSize>;
  using diagonal = adapter<typename matrix::DiagonalVectorType>;

  [[nodiscard]] static auto view(matrix& object) { return diagonal::view(object.diagonal()); }
  [[nodiscard]] static bool can_be(const extents& shape) noexcept { return diagonal::can_be(shape); }
  static void resize(matrix& object, const extents& shape)
  requires(Size == Eigen::Dynamic)
  {
    diagonal::resize(object.diagonal(), shape);
  }
};

/// A permutation is saved as its indices, [n]. errc::mismatch: what is stored is no permutation of 0 to n - 1.
template <int Size, int MaxSize, class Index>
struct adapter<Eigen::PermutationMatrix<Size, MaxSize, Index>> {
  using matrix = Eigen::PermutationMatrix<Size, MaxSize, Index>;

  [[nodiscard]] static std::vector<Index> get(const matrix& object) {
    return {object.indices().data(), object.indices().data() + object.indices().size()};
  }
  static void set(matrix& object, const std::vector<Index>& stored) {
    if (!detail::eigen_can_be(stored.size(), Size, MaxSize))
      fail(errc::mismatch, {"has ", stored.size(), " elements in the checkpoint, and the permutation in the state has ",
                            object.size(), "; give it that size, or leave it out with filter"});
    std::vector<bool> seen(stored.size());
    for (const Index each : stored) {
      const auto at = static_cast<std::size_t>(each);  // of a negative index: too large
      if (at >= seen.size() || seen[at])
        fail(errc::mismatch, {"has indices in the checkpoint that are no permutation; leave it out with filter"});
      seen[at] = true;
    }
    object.resize(static_cast<Eigen::Index>(stored.size()));
    for (std::size_t i = 0; i < stored.size(); ++i) object.indices()(static_cast<Eigen::Index>(i)) = stored[i];
  }
};

}  // namespace cairn::inline v0_1
