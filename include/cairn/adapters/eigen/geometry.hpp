// SPDX-License-Identifier: MIT
// Eigen's rotations, translations, transformations, boxes, planes and lines as parts of a state.
#pragma once

#include <Eigen/Geometry>
#include <concepts>

#include "cairn/adapters/eigen.hpp"

namespace cairn::inline v0_1 {

/// A quaternion, or a view of one, is [x, y, z, w].
template <class Quaternion>
requires std::derived_from<Quaternion, Eigen::QuaternionBase<Quaternion>>
struct adapter<Quaternion> {
  [[nodiscard]] static auto view(Quaternion& object) { return detail::eigen_matrix_view(object.coeffs()); }
};

/// Its angle, a scalar.
template <class Scalar>
struct adapter<Eigen::Rotation2D<Scalar>> {
  [[nodiscard]] static auto view(Eigen::Rotation2D<Scalar>& object) {
    return detail::eigen_view(&object.angle(), extents{});
  }
};

/// Its factor, a scalar.
template <class Scalar>
struct adapter<Eigen::UniformScaling<Scalar>> {
  [[nodiscard]] static auto view(Eigen::UniformScaling<Scalar>& object) {
    return detail::eigen_view(&object.factor(), extents{});
  }
};

template <class Scalar>
struct adapter<Eigen::AngleAxis<Scalar>> {
  static void fields(Eigen::AngleAxis<Scalar>& object, const auto& field) {
    field("angle", object.angle());
    field("axis", object.axis());
  }
};

/// Its vector, [dimensions].
template <class Scalar, int Dim>
struct adapter<Eigen::Translation<Scalar, Dim>> {
  [[nodiscard]] static auto view(Eigen::Translation<Scalar, Dim>& object) {
    return detail::eigen_matrix_view(object.vector());
  }
};

/// Isometries, affine and projective transformations are their matrices.
template <class Scalar, int Dim, int Mode, int Options>
struct adapter<Eigen::Transform<Scalar, Dim, Mode, Options>> {
  [[nodiscard]] static auto view(Eigen::Transform<Scalar, Dim, Mode, Options>& object) {
    return detail::eigen_matrix_view(object.matrix());
  }
};

template <class Scalar, int Dim>
struct adapter<Eigen::AlignedBox<Scalar, Dim>> {
  static void fields(Eigen::AlignedBox<Scalar, Dim>& object, const auto& field) {
    field("min", (object.min)());
    field("max", (object.max)());
  }
};

/// Its normal vector and offset, [dimensions + 1].
template <class Scalar, int Dim, int Options>
struct adapter<Eigen::Hyperplane<Scalar, Dim, Options>> {
  using plane = Eigen::Hyperplane<Scalar, Dim, Options>;
  using coefficients = adapter<typename plane::Coefficients>;

  [[nodiscard]] static auto view(plane& object) { return coefficients::view(object.coeffs()); }
  [[nodiscard]] static bool can_be(const extents& shape) noexcept {
    return shape.size() == 1 && shape[0] > 0 && coefficients::can_be(shape);
  }
  static void resize(plane& object, const extents& shape)
  requires(Dim == Eigen::Dynamic)
  {
    coefficients::resize(object.coeffs(), shape);
  }
};

template <class Scalar, int Dim, int Options>
struct adapter<Eigen::ParametrizedLine<Scalar, Dim, Options>> {
  static void fields(Eigen::ParametrizedLine<Scalar, Dim, Options>& object, const auto& field) {
    field("origin", object.origin());
    field("direction", object.direction());
  }
};

}  // namespace cairn::inline v0_1
