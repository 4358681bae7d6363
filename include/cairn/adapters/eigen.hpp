// Eigen's dense matrices, vectors and arrays as leaves of a state, saved and loaded in place.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <limits>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn {

namespace detail {

template <class T>
concept eigen_dense = std::derived_from<T, Eigen::PlainObjectBase<T>>;

/// Whether a dimension can be `n`, if it is fixed to `size` and at most `most`; Eigen::Dynamic means no such limit.
[[nodiscard]] constexpr bool eigen_can_be(std::uint64_t n, Eigen::Index size, Eigen::Index most) noexcept {
  if (size != Eigen::Dynamic) return n == static_cast<std::uint64_t>(size);
  return n <= static_cast<std::uint64_t>(most == Eigen::Dynamic ? (std::numeric_limits<Eigen::Index>::max)() : most);
}

}  // namespace detail

/// Every Eigen::Matrix and Eigen::Array. The shape is [rows, cols] in either storage order, so that a column-major matrix
/// loads into a row-major one; a vector is [n]. Vectors and row-major matrices are saved and loaded in place; column-major
/// ones are gathered and scattered. A load resizes dynamic dimensions. errc::mismatch, before anything is changed: a fixed or
/// bounded dimension (Matrix3d, Matrix3Xf) cannot take the stored size.
template <detail::eigen_dense Dense>
struct adapter<Dense> {
  using scalar = typename Dense::Scalar;

  [[nodiscard]] static tensor_view<scalar> view(Dense& object) {
    const auto rows = static_cast<std::uint64_t>(object.rows()), cols = static_cast<std::uint64_t>(object.cols());
    if constexpr (Dense::IsVectorAtCompileTime) {
      return {object.data(), {rows * cols}};
    } else if constexpr (Dense::IsRowMajor) {
      return {object.data(), {rows, cols}};
    } else {
      return {object.data(), {rows, cols}, {1, object.rows()}};
    }
  }

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

  /// Resizes `object`; its values are then unspecified. errc::mismatch: it cannot have that shape; it is as it was.
  static void resize(Dense& object, const extents& shape)
  requires(Dense::SizeAtCompileTime == Eigen::Dynamic)
  {
    if (!can_be(shape)) fail(errc::mismatch, {"an Eigen object that cannot have the shape ", to_string(shape)});
    if constexpr (Dense::IsVectorAtCompileTime) {
      object.resize(static_cast<Eigen::Index>(shape[0]));
    } else {
      object.resize(static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
    }
  }
};

}  // namespace cairn
