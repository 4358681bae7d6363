// Eigen's dense matrices, vectors and arrays as leaves of a state, saved and loaded in place.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn {

namespace detail {

template <class T>
concept eigen_dense = std::derived_from<T, Eigen::PlainObjectBase<T>>;

/// No dimension is fixed or bounded, but for the one that makes it a vector.
template <class Dense>
inline constexpr bool eigen_is_free = (Dense::MaxRowsAtCompileTime == Eigen::Dynamic ||
                                       Dense::RowsAtCompileTime == 1) &&
                                      (Dense::MaxColsAtCompileTime == Eigen::Dynamic ||
                                       Dense::ColsAtCompileTime == 1) &&
                                      Dense::MaxSizeAtCompileTime == Eigen::Dynamic;

}  // namespace detail

/// Every Eigen::Matrix and Eigen::Array. Shape: [rows, cols], whatever the order in memory, so that a matrix
/// saved by columns loads into one kept by rows; vectors are [n]. Column-major matrices are gathered and
/// scattered, which costs a pass through the cache; vectors and row-major matrices move as they are. A load
/// resizes objects of dynamic size; where a dimension is fixed or bounded (Matrix3d, Matrix3Xf) the object
/// must have the checkpoint's shape already.
template <detail::eigen_dense Dense>
struct adapter<Dense> {
  using scalar = typename Dense::Scalar;

  [[nodiscard]] static tensor_view<scalar> view(Dense& object) {
    const auto rows = static_cast<std::uint64_t>(object.rows()),
               cols = static_cast<std::uint64_t>(object.cols());
    if constexpr (Dense::IsVectorAtCompileTime) {
      return {object.data(), {rows * cols}};
    } else if constexpr (Dense::IsRowMajor) {
      return {object.data(), {rows, cols}};
    } else {
      return {object.data(), {rows, cols}, {1, object.rows()}};
    }
  }

  /// Gives `object` the shape; its values are then unspecified. Throws errc::mismatch, and changes nothing,
  /// for another number of dimensions, or one that Eigen cannot count.
  static void resize(Dense& object, const extents& shape) requires(detail::eigen_is_free<Dense>) {
    constexpr std::uint64_t most = std::numeric_limits<Eigen::Index>::max();
    constexpr std::size_t dimensions = Dense::IsVectorAtCompileTime ? 1 : 2;
    if (shape.size() != dimensions || std::ranges::any_of(shape, [](auto n) { return n > most; })) {
      fail(errc::mismatch, {"an Eigen object of ", std::to_string(dimensions),
                            " dimensions cannot have the shape ", to_string(shape)});
    }
    if constexpr (Dense::IsVectorAtCompileTime) {
      object.resize(static_cast<Eigen::Index>(shape[0]));
    } else {
      object.resize(static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
    }
  }
};

}  // namespace cairn
