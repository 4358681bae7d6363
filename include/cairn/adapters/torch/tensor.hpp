// SPDX-License-Identifier: MIT
// libtorch's tensors as leaves of a state, saved and loaded in place, on the host and on devices.
#pragma once

#include <torch/types.h>

#include <concepts>
#include <optional>
#include <utility>

#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// Undefined: a view of an array that does not exist. errc::unsupported: a tensor that is not an array in memory.
[[nodiscard]] any_tensor_view torch_view(const at::Tensor& tensor);

/// Other handles to a tensor see its new shape too. An undefined one is made.
void resize_torch(at::Tensor& tensor, const extents& shape, dtype type);

}  // namespace detail

/// Uses `copies` for the tensors of all devices of this type, in place of libtorch's own functions. Call it before the
/// first save or load.
void set_torch_copies(c10::DeviceType type, const device_copies& copies);

/// A tensor with its type, shape and strides, saved and loaded in place, where it is. A complex one has a last
/// dimension of 2. A load gives another shape to tensors that need no gradients, and makes undefined ones, of
/// contiguous memory on the host. errc::mismatch, before anything is changed: another type, or another shape of a
/// parameter. errc::unsupported: sparse, quantized, expanded and conjugated tensors.
template <>
struct adapter<at::Tensor> {
  [[nodiscard]] static any_tensor_view view(const at::Tensor& tensor) { return detail::torch_view(tensor); }

  [[nodiscard]] static bool can_be(const at::Tensor& tensor, const extents& /*shape*/) {
    return !tensor.defined() || !(tensor.requires_grad() || tensor.is_inference());
  }

  static void resize(at::Tensor& tensor, const extents& shape, dtype type) {
    detail::resize_torch(tensor, shape, type);
  }
};

/// libtorch's optional, saved as std::optional, which it is in later versions.
template <class T>
requires(!std::same_as<c10::optional<T>, std::optional<T>>)
struct adapter<c10::optional<T>> {
  [[nodiscard]] static std::optional<T> get(const c10::optional<T>& object) {
    return object ? std::optional<T>(*object) : std::nullopt;
  }
  static void set(c10::optional<T>& object, std::optional<T> stored) {
    if (stored)
      object = std::move(*stored);
    else
      object = c10::nullopt;
  }
};

}  // namespace cairn::inline v0_1
