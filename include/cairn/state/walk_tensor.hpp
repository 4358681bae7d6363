// SPDX-License-Identifier: MIT
// Walks tensors of any library, and adapted types that are viewed as one array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

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

inline any_tensor_view any_view(any_tensor_view view) { return view; }

template <class Element>
any_tensor_view any_view(tensor_view<Element> view) {
  using number =
      std::remove_const_t<Element>;  // const ones are only saved: the check of the state's type refuses to load them
  auto* const first = const_cast<number*>(view.data());
  if constexpr (complex_type<number>)
    return {dtype_of<typename number::value_type>(), first, std::move(view).shape(), std::move(view).strides(), {}, 2};
  else
    return {dtype_of<number>(), first, std::move(view).shape(), std::move(view).strides()};
}

struct tensor_operations {
  any_tensor_view (*view)(void* tensor);
  /// Whether it can have the shape, by its adapter. Null: any shape with its present number of dimensions.
  bool (*can_be)(const void* tensor, const extents& shape);
  /// Its values are unspecified then. Null if it cannot be resized.
  void (*resize)(void* tensor, const extents& shape, dtype type);
  /// Resizes a new tensor, which is like this one, and tells whether it has the shape. Null: none can be made.
  bool (*try_resize)(const void* tensor, const extents& shape, dtype type);
  /// Its number of dimensions can change: one without dimensions takes any number.
  bool has_dynamic_rank;
  std::size_t size;  ///< of the tensor object, in bytes
};

/// Walks the tensor; gives it the checkpoint's shape. errc::invalid: impossible shape, strides or memory of the view.
void walk_tensor(walker& w, void* tensor, const tensor_operations& how);

template <class T>
struct tensor_of {
  static constexpr bool adapted = has_adapter<T>;

  static any_tensor_view view(void* tensor) { return detail::any_view(detail::view_of(*static_cast<T*>(tensor))); }
  static bool can_be([[maybe_unused]] const void* tensor, const extents& shape) {
    if constexpr (requires { adapter<T>::can_be(shape); })
      return adapter<T>::can_be(shape);
    else
      return adapter<T>::can_be(*static_cast<const T*>(tensor), shape);
  }
  static void resize(void* tensor, const extents& shape, [[maybe_unused]] dtype type) {
    T& object = *static_cast<T*>(tensor);
    if constexpr (!adapted)
      object.resize(shape);
    else if constexpr (requires { adapter<T>::resize(object, shape, type); })
      adapter<T>::resize(object, shape, type);
    else
      adapter<T>::resize(object, shape);
  }

  static bool try_resize(const void* tensor, const extents& shape, dtype type) {
    const std::unique_ptr<T> trial(detail::new_prototype(*static_cast<const T*>(tensor)));
    resize(trial.get(), shape, type);
    return view(trial.get()).shape() == shape;
  }

  static consteval bool can_resize() {
    if constexpr (adapted)
      return requires(T& t, const extents& s) { adapter<T>::resize(t, s); } ||
             requires(T& t, const extents& s) { adapter<T>::resize(t, s, dtype{}); };
    else
      return requires(T& t, const extents& s) { t.resize(s); };
  }
  static consteval bool has_can_be() {
    return requires(const extents& s) { adapter<T>::can_be(s); } ||
           requires(const T& t, const extents& s) { adapter<T>::can_be(t, s); };
  }

  static consteval tensor_operations make_operations() {
    tensor_operations all{view, nullptr, nullptr, nullptr, false, sizeof(T)};
    if constexpr (can_resize()) {
      all.resize = resize;
      if constexpr (makeable<T> || has_prototype_adapter<T>) all.try_resize = try_resize;
      if constexpr (adapted && has_can_be())
        all.can_be = can_be;
      else if constexpr (!adapted)
        all.has_dynamic_rank = requires(T& t) { std::remove_cvref_t<decltype(t.shape())>(t.shape()).resize(1); };
    }
    return all;
  }
};

template <class T>
inline constexpr tensor_operations operations_of_tensor = tensor_of<T>::make_operations();

}  // namespace cairn::inline v0_1::detail
