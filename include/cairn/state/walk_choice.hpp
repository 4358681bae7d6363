// Walks optionals and variants.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class T>
void walk_optional(walker& w, T& object) {
  using value = std::remove_cvref_t<decltype(*object)>;
  switch (w.optional(object.has_value())) {
    case presence::keep:
      return;
    case presence::clear:
      return object.reset();
    case presence::make:
      if constexpr (has_make_adapter<value>) {
        object.emplace(adapter<value>::make());
        break;
      } else if constexpr (requires { object.emplace(); }) {
        object.emplace();
        break;
      }
      [[fallthrough]];
    case presence::prototype:
      return detail::walk_held_prototype<value>(w);
    case presence::walk:
      break;
  }
  detail::walk_held<value>(w, std::addressof(*object));
}

/// Walks alternative I, which `object` holds or will hold.
template <std::size_t I, class T>
void walk_alternative(walker& w, T& object, presence what) {
  using type = std::variant_alternative_t<I, T>;
  if (what == presence::make) {
    if constexpr (has_make_adapter<type>)
      object.template emplace<I>(adapter<type>::make());
    else if constexpr (std::is_default_constructible_v<type>)
      object.template emplace<I>();
  }
  if (object.index() == I)
    detail::walk_held<type>(w, std::get_if<I>(&object));
  else
    detail::walk_held_prototype<type>(w);
}

template <class T>
void walk_variant(walker& w, T& object) {
  const auto [what, index] = w.alternative(object.index(), std::variant_size_v<T>);
  if (what == presence::keep) return;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == index ? detail::walk_alternative<I>(w, object, what) : void()), ...);
  }(std::make_index_sequence<std::variant_size_v<T>>{});
}

}  // namespace cairn::detail
