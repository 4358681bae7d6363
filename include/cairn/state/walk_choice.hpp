// SPDX-License-Identifier: MIT
// Walks optionals and variants.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "cairn/state/adapter.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

void walk_optional(walker& w, void* object, const optional_operations& how);
void walk_variant(walker& w, void* object, const variant_operations& how);

template <class T>
struct optional_of {
  using value = std::remove_cvref_t<decltype(*std::declval<T&>())>;

  static void* at(void* optional, access what) {
    T& object = *static_cast<T*>(optional);
    if (what == access::remove) object.reset();
    if (what == access::make) {
      if constexpr (has_make_adapter<value>)
        object.emplace(adapter<value>::make());
      else if constexpr (makeable<value> && requires { object.emplace(); })
        object.emplace();
      else if constexpr (makeable<value>)  // clang, for a class in that of the state: see `default_made`
        object.emplace(value());
    }
    return object.has_value() ? std::addressof(*object) : nullptr;
  }

  static constexpr optional_operations operations{at, content_operations_of<value>};
};

template <class T>
void walk_optional(walker& w, T& object) {
  detail::walk_optional(w, std::addressof(object), optional_of<T>::operations);
}

template <class T>
struct variant_of {
  template <std::size_t I>
  static void* at(void* variant, access what) {
    using type = std::variant_alternative_t<I, T>;
    T& object = *static_cast<T*>(variant);
    if (what == access::make) {
      if constexpr (has_make_adapter<type>)
        object.template emplace<I>(adapter<type>::make());
      else if constexpr (has_default<type> && requires { object.template emplace<I>(); })
        object.template emplace<I>();
      else if constexpr (has_default<type>)
        object.template emplace<I>(type());
    }
    return std::get_if<I>(std::addressof(object));
  }
  static std::size_t index(const void* variant) { return static_cast<const T*>(variant)->index(); }

  template <std::size_t... I>
  static constexpr auto list_alternatives(std::index_sequence<I...>) {
    return std::array{alternative_operations{at<I>, content_operations_of<std::variant_alternative_t<I, T>>}...};
  }
  static constexpr auto alternatives = list_alternatives(std::make_index_sequence<std::variant_size_v<T>>{});
  static constexpr variant_operations operations{index, alternatives};
};

template <class T>
void walk_variant(walker& w, T& object) {
  detail::walk_variant(w, std::addressof(object), variant_of<T>::operations);
}

}  // namespace cairn::inline v0_1::detail
