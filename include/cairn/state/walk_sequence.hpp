// Walks sequences: as columns if the elements have a fixed layout, else with one path per element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class T>
void resize_to(T& object, std::uint64_t size) {
  using element = typename T::value_type;
  if constexpr (has_make_adapter<element>) {
    const auto now = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
    if (size < now) object.erase(std::next(object.begin(), static_cast<std::ptrdiff_t>(size)), object.end());
    for (auto i = now; i < size; ++i) object.insert(object.end(), adapter<element>::make());
  } else if constexpr (std::is_default_constructible_v<element> && std::is_move_constructible_v<element>) {
    object.resize(size);
  } else if constexpr (std::is_default_constructible_v<element>) {
    T fresh(size);
    object.swap(fresh);
  } else {
    while (static_cast<std::uint64_t>(std::distance(object.begin(), object.end())) > size) object.pop_back();
  }
}

/// The operations of a container whose elements have a fixed layout and are contiguous.
template <class T>
struct contiguous_container {
  using element = typename T::value_type;
  static constexpr bool can_reserve = requires(T& object) {
    object.reserve(object.capacity());
    object.clear();
    object.data();
  };

  [[nodiscard]] static void* first(T& object) {
    if constexpr (requires { object.data(); })
      return object.data();
    else
      return object.size() > 0 ? &object[0] : nullptr;
  }
  static void* resize(void* container, std::uint64_t size) {
    T& object = *static_cast<T*>(container);
    object.resize(size);
    return first(object);
  }
  static void* reserve(void* container, std::uint64_t size) {
    if constexpr (can_reserve) {
      T& object = *static_cast<T*>(container);
      if (object.capacity() >= size) return nullptr;
      object.clear();
      object.reserve(size);
      return object.data();
    } else {
      return nullptr;
    }
  }
  static void walk_all(walker& w, T& object) {
    w.contiguous(&object, object.size(), first(object),
                 {sizeof(element), walk<element>, &sample<element>(), resize, can_reserve ? reserve : nullptr});
  }
};

template <class T>
void walk_valarray(walker& w, T& object) {
  static_assert(flat<typename T::value_type>, "cairn: a valarray of numbers");
  contiguous_container<T>::walk_all(w, object);
}

/// Walks elements of varying size, each with its index as path.
template <class T>
void walk_elements(walker& w, T& object) {
  using element = typename T::value_type;
  const auto [size, resize] =
      w.sequence(static_cast<std::uint64_t>(std::distance(object.begin(), object.end())), std::is_empty_v<element>);
  if (resize) resize_to(object, size);
  std::uint64_t i = 0;
  for (auto& each : object) {
    if (i == size) return;
    w.part(i++, std::addressof(each), walk<element>);
  }
  for (; i < size; ++i) w.prototype_part(i, walk_prototype<element>);
}

template <class T>
void walk_sequence(walker& w, T& object) {
  if constexpr (contiguous<T> && flat<typename T::value_type>)
    contiguous_container<T>::walk_all(w, object);
  else
    walk_elements(w, object);
}

template <class T>
void walk_span(walker& w, T& object) {
  using element = typename T::element_type;
  static_assert(!std::is_const_v<element>,
                "cairn: a span of const elements can be saved but not loaded: use a span of mutable elements");
  static_assert(flat<element>, "cairn: a span of elements of fixed layout; else save the container that owns them");
  w.contiguous(&object, object.size(), object.data(),
               {sizeof(element), walk<element>, &sample<element>(), nullptr, nullptr});
}

template <class T>
void walk_container_adaptor(walker& w, T& object) {
  struct opened : T {
    using T::c;
  };
  walk<typename T::container_type>(w, &(object.*(&opened::c)));
}

}  // namespace cairn::detail
