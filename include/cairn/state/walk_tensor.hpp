// Walks arrays that bring their own shape: tensors of any library, and adapted types that can be viewed as
// one.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn::detail {

/// Any tensor as our view of it. Strides are taken in elements, as all tensor libraries give them.
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

/// Whether the tensor can take the shape at all: some have dimensions that are fixed or bounded.
template <class T>
bool can_be([[maybe_unused]] const T& tensor, const extents& shape) {
  constexpr std::uint64_t largest = std::uint64_t{1}
                                    << 48U;  // of any dimension: products of signed sizes stay in range
  for (const auto n : shape)
    if (n > largest) return false;
  if constexpr (has_adapter<T> && requires { adapter<T>::can_be(shape); })
    return adapter<T>::can_be(shape);
  else
    return true;
}

template <class T>
void resize_tensor(T& tensor, const extents& shape) {
  if constexpr (has_adapter<T>)
    adapter<T>::resize(tensor, shape);
  else
    tensor.resize(shape);
}

template <class Element>
void walk_view(walker& w, const tensor_view<Element>& view) {
  static_assert(!std::is_const_v<Element>, "cairn: a tensor of const elements can be saved but not loaded");
  static_assert(scalar_type<Element> || complex_type<Element>, "cairn: a tensor of numbers");
  if (!view.strides().empty() && view.strides().size() != view.shape().size())
    fail(errc::invalid, {w.path(), " is a tensor of ", std::to_string(view.shape().size()), " dimensions and ",
                         std::to_string(view.strides().size()), " strides"});
  extents shape = view.shape();
  std::vector<std::int64_t> strides;
  for (const auto step : view.strides()) strides.push_back(step * static_cast<std::int64_t>(sizeof(Element)));
  if constexpr (complex_type<Element>) {
    using number = typename Element::value_type;
    shape.push_back(2);
    if (!strides.empty()) strides.push_back(sizeof(number));
    w.array(dtype_of<number>(), view.data(), shape, strides);
  } else {
    w.array(dtype_of<Element>(), view.data(), shape, strides);
  }
}

template <class T>
void walk_tensor(walker& w, T& tensor) {
  auto view = view_of(tensor);
  using element = std::remove_pointer_t<decltype(view.data())>;
  if constexpr (resizable_tensor<T>) {
    const extents* stored = w.is_describing() ? nullptr : w.match().stored_shape(w.path());
    const std::size_t rank = view.shape().size() + (complex_type<element> ? 1 : 0);
    if (stored && stored->size() == rank && !w.is_filtered()) {
      extents shape(stored->begin(), stored->begin() + static_cast<std::ptrdiff_t>(view.shape().size()));
      if (shape != view.shape() && can_be(tensor, shape)) {
        w.match().resized(w.path());
        if (element_count(shape) > element_count(view.shape()))
          w.match().grows(w.path(), element_count(shape), sizeof(element));
        if (!w.is_writing()) return walk_view(w, tensor_view<element>(nullptr, std::move(shape)));
        resize_tensor(tensor, shape);
        view = view_of(tensor);
      }
    }
  }
  walk_view(w, view);
}

}  // namespace cairn::detail
