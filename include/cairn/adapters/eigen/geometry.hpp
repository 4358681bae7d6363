// SPDX-License-Identifier: MIT
// Eigen's rotations, translations, transformations, boxes, planes and lines as parts of a state.
#pragma once

#include <Eigen/Geometry>

#include "cairn/adapters/eigen.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <class Quaternion>
struct eigen_quaternion_adapter {
  [[nodiscard]] static auto view(Quaternion& object) { return eigen_view(object.coeffs().data(), {4}); }
};

}  // namespace detail

/// A quaternion is [x, y, z, w].
template <class Scalar, int Options>
struct adapter<Eigen::Quaternion<Scalar, Options>>
    : detail::eigen_quaternion_adapter<Eigen::Quaternion<Scalar, Options>> {};

template <class Scalar, int Options>
struct adapter<Eigen::Map<Eigen::Quaternion<Scalar>, Options>>
    : detail::eigen_quaternion_adapter<Eigen::Map<Eigen::Quaternion<Scalar>, Options>> {};

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
  template <class Field>
  static void fields(Eigen::AngleAxis<Scalar>& object, const Field& field) {
    field("angle", object.angle());
    field("axis", object.axis());
  }
};

/// Its vector, [dimensions].
template <class Scalar, int Dim>
struct adapter<Eigen::Translation<Scalar, Dim>> {
  [[nodiscard]] static auto view(Eigen::Translation<Scalar, Dim>& object) {
    return detail::eigen_view(object.vector().data(), {static_cast<std::uint64_t>(Dim)});
  }
};

/// Isometries, affine and projective transformations are their matrices.
template <class Scalar, int Dim, int Mode, int Options>
struct adapter<Eigen::Transform<Scalar, Dim, Mode, Options>> {
  using transform = Eigen::Transform<Scalar, Dim, Mode, Options>;

  [[nodiscard]] static auto view(transform& object) {
    return adapter<typename transform::MatrixType>::view(object.matrix());
  }
};

template <class Scalar, int Dim>
struct adapter<Eigen::AlignedBox<Scalar, Dim>> {
  template <class Field>
  static void fields(Eigen::AlignedBox<Scalar, Dim>& object, const Field& field) {
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
  template <class Field>
  static void fields(Eigen::ParametrizedLine<Scalar, Dim, Options>& object, const Field& field) {
    field("origin", object.origin());
    field("direction", object.direction());
  }
};

}  // namespace cairn::inline v0_1
