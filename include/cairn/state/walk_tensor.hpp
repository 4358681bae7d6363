// Walks tensors of any library, and adapted types that are viewed as one array.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/walk.hpp"

namespace cairn::detail {

/// A view of any tensor. Strides count elements, as in all tensor libraries.
template <class T>
auto view_of(T& tensor) {
  if constexpr (has_adapter<T>) {
    return adapter<T>::view(tensor);
  } else if constexpr (mdspan_type<T>) {
    extents shape;
    std::vector<std::int64_t> strides;
    for (std::size_t d = 0; d < tensor.rank(); ++d) {
      shape.push_back(static_cast<std::uint64_t>(tensor.extent(d)));
      strides.push_back(static_cast<std::int64_t>(tensor.stride(d)));
    }
    return tensor_view(tensor.data_handle(), std::move(shape), std::move(strides));
  } else {
    extents shape;
    const auto append = [&](const auto& sizes) {
      for (const auto n : sizes) shape.push_back(static_cast<std::uint64_t>(n));
    };
    if constexpr (requires { tensor.shape().begin(); })
      append(tensor.shape());
    else
      append(tensor.sizes());
    std::vector<std::int64_t> strides;
    if constexpr (requires { tensor.strides().begin(); })
      for (const auto step : tensor.strides()) strides.push_back(static_cast<std::int64_t>(step));
    return tensor_view(tensor.data(), std::move(shape), std::move(strides));
  }
}

template <class T>
concept resizable_tensor = (has_adapter<T> && requires(T& t, const extents& shape) { adapter<T>::resize(t, shape); }) ||
                           (!has_adapter<T> && requires(T& t, const extents& shape) { t.resize(shape); });

template <class T>
void resize_tensor(T& tensor, const extents& shape) {
  if constexpr (has_adapter<T>)
    adapter<T>::resize(tensor, shape);
  else
    tensor.resize(shape);
}

/// Whether the elements of the tensor are part of the object.
template <class T>
[[nodiscard]] bool contains_elements(T& tensor) {
  const auto object = reinterpret_cast<std::uintptr_t>(std::addressof(tensor));
  const auto elements = reinterpret_cast<std::uintptr_t>(view_of(tensor).data());
  return elements >= object && elements < object + sizeof(T);
}

/// Whether the tensor can have the shape; its type may fix or bound some dimensions.
template <class T>
[[nodiscard]] bool can_be([[maybe_unused]] T& tensor, const extents& shape) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 48U;  // per dimension: far below the limit of signed sizes
  for (const auto n : shape)
    if (n > largest) return false;
  if constexpr (has_adapter<T> && requires { adapter<T>::can_be(shape); }) {
    return adapter<T>::can_be(shape);
  } else if constexpr (std::is_default_constructible_v<T>) {
    if (!contains_elements(tensor)) return true;
    try {  // on another tensor, since one that contains its elements may have a fixed shape
      T trial{};
      resize_tensor(trial, shape);
      return view_of(trial).shape() == shape;
    } catch (const std::exception&) {
      return false;
    }
  } else {
    return true;
  }
}

template <class Element>
void walk_view(walker& w, const tensor_view<Element>& view) {
  using number = std::remove_const_t<Element>;
  static_assert(scalar_type<number> || complex_type<number>, "cairn: a tensor of numbers");
  auto* const first = const_cast<number*>(view.data());
  if constexpr (complex_type<number>)
    w.array(dtype_of<typename number::value_type>(), 2, first, view.shape(), view.strides());
  else
    w.array(dtype_of<number>(), 1, first, view.shape(), view.strides());
}

template <class T>
void walk_tensor(walker& w, T& tensor) {
  auto view = view_of(tensor);
  if constexpr (resizable_tensor<T>) {
    using element = std::remove_pointer_t<decltype(view.data())>;
    extents wanted;
    if (w.has_other_shape(view.shape(), complex_type<element> ? 2 : 1, wanted) && can_be(tensor, wanted)) {
      if (view.strides().empty()) w.frees(&tensor, view.data(), element_count(view.shape()) * sizeof(element));
      if (!w.resizes(element_count(view.shape()), element_count(wanted), sizeof(element)))
        return walk_view(w, tensor_view<element>(nullptr, std::move(wanted)));
      resize_tensor(tensor, wanted);
      view = view_of(tensor);
    }
  }
  walk_view(w, view);
}

}  // namespace cairn::detail
