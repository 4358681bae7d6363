// SPDX-License-Identifier: MIT
// The arrays of Boost.MultiArray as leaves of a state, saved and loaded in place.
#pragma once

#if defined(__clang__)  // Boost's header uses std::unary_function
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif
#include <boost/multi_array.hpp>
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1 {

/// A view of memory: saved from it and loaded into it. The shape is that of the array, in any storage order and with
/// any index bases. Another shape is errc::mismatch.
template <class Element, std::size_t Dimensions>
struct adapter<boost::multi_array_ref<Element, Dimensions>> {
  [[nodiscard]] static auto view(boost::multi_array_ref<Element, Dimensions>& array) {
    extents shape;
    std::vector<std::int64_t> strides;
    auto* first = array.num_elements() > 0 ? array.origin() : array.data();
    for (std::size_t d = 0; d < Dimensions; ++d) {
      shape.push_back(array.shape()[d]);
      strides.push_back(array.strides()[d]);
      if (array.num_elements() > 0) first += array.index_bases()[d] * array.strides()[d];
    }
    return tensor_view(first, std::move(shape), std::move(strides));
  }
};

/// A load resizes it as `reshaping` says, and keeps its storage order and index bases. errc::mismatch, before anything
/// is changed: another number of dimensions.
template <class Element, std::size_t Dimensions, class Allocator>
struct adapter<boost::multi_array<Element, Dimensions, Allocator>>
    : adapter<boost::multi_array_ref<Element, Dimensions>> {
  using array = boost::multi_array<Element, Dimensions, Allocator>;

  static void resize(array& object, const extents& shape) {
    const std::vector<typename array::index> bases(object.index_bases(), object.index_bases() + Dimensions);
    object.resize(shape);
    object.reindex(bases);
  }
};

}  // namespace cairn::inline v0_1
