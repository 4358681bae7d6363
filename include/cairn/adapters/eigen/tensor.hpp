// SPDX-License-Identifier: MIT
// The tensors of Eigen's unsupported modules as leaves of a state, saved and loaded in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unsupported/Eigen/CXX11/Tensor>
#include <utility>
#include <vector>

#include "cairn/adapters/eigen.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// `Number` is the type of the argument of `tensor.dimension()`.
template <class Number, class Tensor>
[[nodiscard]] auto eigen_tensor_view(Tensor& tensor) {
  extents shape;
  std::vector<std::int64_t> strides;
  std::int64_t step = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank()); ++d) {
    const auto n = static_cast<std::int64_t>(tensor.dimension(static_cast<Number>(d)));
    shape.push_back(static_cast<std::uint64_t>(n));
    if (Tensor::Layout == static_cast<int>(Eigen::ColMajor)) {
      strides.push_back(step);
      step *= n;
    }
  }
  return eigen_view(tensor.data(), std::move(shape), std::move(strides));
}

}  // namespace detail

/// The shape is that of the tensor in either storage order, as it is for matrices. A load resizes it as `reshaping`
/// says. errc::mismatch, before anything is changed: another number of dimensions.
template <class Scalar, int Dimensions, int Options, class Index>
struct adapter<Eigen::Tensor<Scalar, Dimensions, Options, Index>> {
  using tensor = Eigen::Tensor<Scalar, Dimensions, Options, Index>;

  [[nodiscard]] static auto view(tensor& object) { return detail::eigen_tensor_view<std::size_t>(object); }
  [[nodiscard]] static bool can_be(const extents& shape) noexcept {
    auto left = static_cast<std::uint64_t>((std::numeric_limits<Index>::max)());
    for (const auto n : shape) {  // also where one of them is 0: Eigen multiplies the others
      if (n > left) return false;
      if (n > 1) left /= n;
    }
    return shape.size() == static_cast<std::size_t>(Dimensions);
  }
  static void resize(tensor& object, const extents& shape)
  requires(Dimensions > 0)
  {
    typename tensor::Dimensions sizes;
    for (std::size_t d = 0; d < shape.size(); ++d) sizes[d] = static_cast<Index>(shape[d]);
    object.resize(sizes);
  }
};

/// Of fixed size: another shape is errc::mismatch.
template <class Scalar, class Sizes, int Options, class Index>
struct adapter<Eigen::TensorFixedSize<Scalar, Sizes, Options, Index>> {
  using tensor = Eigen::TensorFixedSize<Scalar, Sizes, Options, Index>;

  [[nodiscard]] static auto view(tensor& object) { return detail::eigen_tensor_view<std::size_t>(object); }
};

/// A view of memory: saved from it and loaded into it. Another shape is errc::mismatch.
template <class Plain, int Options, template <class> class MakePointer>
struct adapter<Eigen::TensorMap<Plain, Options, MakePointer>> {
  using tensor = Eigen::TensorMap<Plain, Options, MakePointer>;

  [[nodiscard]] static auto view(tensor& object) { return detail::eigen_tensor_view<Eigen::Index>(object); }
};

}  // namespace cairn::inline v0_1
