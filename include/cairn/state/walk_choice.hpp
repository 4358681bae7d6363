// Walks what may hold something or nothing, or one of several things.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class T>
void walk_optional(walker& w, T& object) {
  if (w.is_filtered()) return;
  if (w.is_describing()) {
    w.state(fact::kind::engaged, object.has_value());
  } else if (const fact* stored = w.stored(fact::kind::engaged)) {
    const bool engaged = stored->number != 0;
    if (w.is_writing() && !engaged) object.reset();
    if (w.is_writing() && engaged && !object) {
      if constexpr (requires { object.emplace(); }) object.emplace();
    }
    if (!engaged) return;
    if (!object) return walk_prototype<typename T::value_type>(w);
  }
  if (object.has_value()) walk(w, *object);
}

template <class T>
void walk_variant(walker& w, T& object) {
  if (w.is_filtered()) return;
  std::size_t index = object.index();
  if (w.is_describing()) {
    if (object.valueless_by_exception()) fail(errc::invalid, {w.path(), " is a variant without a value"});
    w.state(fact::kind::index, index);
  } else if (const fact* stored = w.stored(fact::kind::index)) {
    index = stored->number;
    if (index >= std::variant_size_v<T>) {
      w.refuse("holds alternative " + std::to_string(index) + " of a variant of " +
               std::to_string(std::variant_size_v<T>));
      return;
    }
  }
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto alternative = [&]<std::size_t At>() {
      using type = std::variant_alternative_t<At, T>;
      if (object.index() != At) {
        if constexpr (std::is_default_constructible_v<type>) {
          if (w.is_writing()) object.template emplace<At>();
        }
      }
      if (object.index() == At)
        walk(w, std::get<At>(object));
      else
        walk_prototype<type>(w);
    };
    ((I == index ? alternative.template operator()<I>() : void()), ...);
  }(std::make_index_sequence<std::variant_size_v<T>>{});
}

}  // namespace cairn::detail
