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

/// Whether a dimension can be `n` long that is fixed to `size` and bounded by `most`, where these are not
/// Eigen::Dynamic.
[[nodiscard]] constexpr bool eigen_can_be(std::uint64_t n, Eigen::Index size, Eigen::Index most) noexcept {
  if (size != Eigen::Dynamic) return n == static_cast<std::uint64_t>(size);
  return n <= static_cast<std::uint64_t>(most == Eigen::Dynamic ? std::numeric_limits<Eigen::Index>::max() : most);
}

}  // namespace detail

/// Every Eigen::Matrix and Eigen::Array. Shape: [rows, cols], whatever the order in memory, so that a matrix
/// saved by columns loads into one kept by rows; vectors are [n]. Column-major matrices are gathered and
/// scattered, which costs a pass through the cache; vectors and row-major matrices move as they are. A load
/// resizes what is dynamic; a dimension that is fixed or bounded (Matrix3d, Matrix3Xf) and cannot take the
/// checkpoint's is a mismatch, found before anything is changed.
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

  /// Whether a Dense of this shape can be.
  [[nodiscard]] static bool can_be(const extents& shape) noexcept {
    if constexpr (Dense::IsVectorAtCompileTime) {
      return shape.size() == 1 && detail::eigen_can_be(shape[0], Dense::SizeAtCompileTime, Dense::MaxSizeAtCompileTime);
    } else {
      return shape.size() == 2 &&
             detail::eigen_can_be(shape[0], Dense::RowsAtCompileTime, Dense::MaxRowsAtCompileTime) &&
             detail::eigen_can_be(shape[1], Dense::ColsAtCompileTime, Dense::MaxColsAtCompileTime);
    }
  }

  /// Gives `object` the shape; its values are then unspecified. Throws errc::mismatch, and changes nothing, for
  /// a shape that it cannot take.
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
