// Walks sequences: as columns if the elements have a fixed layout, else with one path per element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

#include "cairn/state/walk.hpp"

namespace cairn::detail {

/// The operations of a container whose elements have a fixed layout and are contiguous.
template <class T>
struct contiguous_container {
  using element = typename T::value_type;
  // Reserved memory is walked before the elements are in it, which no virtual function table of theirs may notice; and emptying the
  // container would lose members that are not state.
  static constexpr row_traits traits = traits_of_rows<element>();
  static constexpr bool can_reserve = implicit_lifetime<element> && std::is_move_constructible_v<element> &&
                                      !traits.has_skipped && !traits.is_filled_at_once && requires(T& object) {
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
    detail::resize_to(object, size);
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
                 {sizeof(element), walk<element>, &sample<element>(), resize, can_reserve ? reserve : nullptr,
                  detail::limits_of(object, object.size())});
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
  const auto now = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
  const auto [size, resize] = w.sequence(now, detail::limits_of(object, now), adds_nothing<element>());
  if (size != now) {
    std::uint64_t index = 0;  // elements that are contiguous move, those of other containers stay
    for (auto& each : object)
      if (contiguous<T> || index++ >= size) w.frees(&object, std::addressof(each), sizeof(element));
  }
  if (resize) detail::resize_to(object, size);
  std::uint64_t i = 0;
  for (auto& each : object) {
    if (i == size) return;
    w.part(i++, std::addressof(each), walk<element>);
  }
  for (; i < size; ++i) w.prototype_part(std::to_string(i), walk_prototype<element>);
}

template <class T>
void walk_sequence(walker& w, T& object) {
  if constexpr (contiguous<T> && flat<typename T::value_type>)
    contiguous_container<T>::walk_all(w, object);
  else
    detail::walk_elements(w, object);
}

template <class T>
void walk_span(walker& w, T& object) {
  using element = std::remove_const_t<typename T::element_type>;
  w.contiguous(&object, object.size(), const_cast<element*>(object.data()),
               {sizeof(element), walk<element>, &sample<element>(), nullptr, nullptr, {}});
}

template <class T>
void walk_container_adaptor(walker& w, T& object) {
  struct opened : T {
    using T::c;
  };
  detail::walk<typename T::container_type>(w, &(object.*(&opened::c)));
}

}  // namespace cairn::detail
