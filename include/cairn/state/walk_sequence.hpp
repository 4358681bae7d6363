// SPDX-License-Identifier: MIT
// Walks sequences: as columns if the elements have a fixed layout, else with one path per element.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "cairn/state/container_copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/resize.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

template <class Action>
void for_each_element(void* sequence, const sequence_operations& how, Action action) {
  how.for_each(sequence, &action, [](void* context, void* element) { (*static_cast<Action*>(context))(element); });
}

/// Walks elements that are not saved as columns, each with its index as path.
void walk_elements(walker& w, void* sequence, const sequence_operations& how);

/// Operations of a container with contiguous elements of a fixed layout. `Grows`: its size is data, whatever it holds.
template <class T, bool Grows = false>
struct contiguous_container {
  using element = typename T::value_type;
  // `reserve` returns memory without elements, and the walk of a load notes addresses in it. So the elements have an
  // implicit lifetime, the walk writes to none of them, and `clear` loses no members that are not state.
  static constexpr row_traits traits = row_traits_of<element>;
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
      return object.size() > 0 ? std::addressof(object[0]) : nullptr;
  }
  static void* resize(void* container, std::uint64_t size) {
    T& object = *static_cast<T*>(container);
    detail::resize_to(object, size);
    return first(object);
  }
  static void* reserve(void* container, std::uint64_t size) {
    if constexpr (can_reserve) {
      T& object = *static_cast<T*>(container);
      if (object.capacity() >= size || (traits.is_listed && object.size() > 0)) return nullptr;
      object.clear();
      object.reserve(size);
      return object.data();
    } else {
      return nullptr;
    }
  }

  static constexpr auto content = string<T>                   ? contiguous_operations::content::text
                                  : !Grows && number_array<T> ? contiguous_operations::content::numbers
                                                              : contiguous_operations::content::objects;
  static constexpr contiguous_operations operations{
      sizeof(element), walk<element>, sample_address<element>, resize, can_reserve ? reserve : nullptr, content};

  static void walk_all(walker& w, T& object) {
    w.contiguous(&object, object.size(), first(object), operations, detail::limits_of(object, object.size()));
  }
};

template <class T>
void walk_valarray(walker& w, T& object) {
  contiguous_container<T>::walk_all(w, object);
}

/// The operations of a sequence whose elements have paths of their own.
template <class T>
struct sequence_of {
  using element = typename T::value_type;

  static std::uint64_t size(void* sequence, size_limits& limits) {
    const T& object = *static_cast<const T*>(sequence);
    const std::uint64_t now = detail::count_elements(object);
    limits = detail::limits_of(object, now);
    return now;
  }
  static void resize(void* sequence, std::uint64_t size) { detail::resize_to(*static_cast<T*>(sequence), size); }
  static void for_each(void* sequence, void* context, void (*action)(void* context, void* element)) {
    for (auto& each : *static_cast<T*>(sequence)) action(context, std::addressof(each));
  }

  static consteval bool elements_are_made() {
    return elements_move<T>() &&
           (resizing_of<T>() == resizing::replaces ||
            (!std::is_nothrow_move_constructible_v<element> && std::is_copy_constructible_v<element>));
  }
  static constexpr sequence_operations operations{object_operations_of<element>,
                                                  sizeof(element),
                                                  elements_move<T>(),
                                                  elements_are_made(),
                                                  row_traits_of<element>.is_empty,
                                                  size,
                                                  resize,
                                                  for_each};
};

template <class T>
void walk_sequence(walker& w, T& object) {
  if constexpr (column_sequence<T>)
    contiguous_container<T>::walk_all(w, object);
  else
    detail::walk_elements(w, std::addressof(object), sequence_of<T>::operations);
}

template <class T>
void walk_span(walker& w, T& object) {
  using element = std::remove_const_t<typename T::element_type>;
  static constexpr contiguous_operations operations{
      sizeof(element), walk<element>, sample_address<element>,
      nullptr,         nullptr,       contiguous_operations::content::objects};
  w.as_view([&] { w.contiguous(&object, object.size(), const_cast<element*>(object.data()), operations, {}); });
}

template <class T>
struct opened_adaptor : T {
  using T::c;
};

/// The operations of std::priority_queue. To arrange one that is a heap changes nothing: std::make_heap may move equal
/// elements, and each unit would parse <algorithm> for it.
template <class T>
struct heap_of {
  struct opened : T {
    using T::c;
    using T::comp;
  };

  static bool has_order(const void* heap) { return !detail::is_null(static_cast<const T*>(heap)->*(&opened::comp)); }
  static void arrange(void* heap) {
    T& object = *static_cast<T*>(heap);
    auto& all = object.*(&opened::c);
    const auto& less = object.*(&opened::comp);
    const auto first = all.begin();
    const auto size = all.end() - first;
    for (auto root = size / 2 - 1; root >= 0; --root)
      for (auto at = root, child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && less(first[child], first[child + 1])) ++child;
        if (!less(first[at], first[child])) break;
        using std::swap;
        swap(first[at], first[child]);
        at = child;
      }
  }

  static constexpr heap_operations operations{has_order, arrange};
};

template <class T>
void walk_container_adaptor(walker& w, T& object) {
  using container = typename T::container_type;
  auto& all = object.*(&opened_adaptor<T>::c);
  if constexpr (column_sequence<container> && !copied<container>)
    contiguous_container<container, true>::walk_all(w, all);
  else
    detail::walk<container>(w, std::addressof(all));
  if constexpr (requires { typename T::value_compare; }) w.heap(std::addressof(object), heap_of<T>::operations);
}

}  // namespace cairn::inline v0_1::detail
