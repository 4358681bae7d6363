// Types with a fixed layout of elements. A container of them is saved as columns: one leaf per field, not per object.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/record.hpp"

namespace cairn::detail {

template <class T>
consteval bool is_flat();

/// Whether each T has its `Base` at the same offset. A virtual base has none.
template <class T, class Base>
concept has_fixed_base = std::is_same_v<T, Base> || requires(Base& base) { static_cast<T&>(base); };

template <class T, auto... Members, class... Bases>
consteval bool is_flat_class(fields<Members...>, bases<Bases...>) {
  return sizeof...(Members) + sizeof...(Bases) > 0 &&
         ((has_fixed_base<T, class_of<Members>> && is_flat<std::remove_cv_t<type_of<Members>>>()) && ...) &&
         ((has_fixed_base<T, Bases> && is_flat<Bases>()) && ...);
}

template <class... Types>
consteval bool are_flat(type_list<Types...>) {
  return sizeof...(Types) > 0 && (is_flat<std::remove_const_t<Types>>() && ...);
}
consteval bool are_flat(no_address) { return false; }

/// True if all objects of the type have the same elements at the same offsets: numbers, fixed arrays, and records of them.
template <class T>
consteval bool is_flat() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::scalar || kind == category::complex || kind == category::duration) {
    return true;
  } else if constexpr (kind == category::fixed_array) {
    return is_flat<std::remove_cvref_t<decltype(std::declval<T&>()[0])>>() && sizeof(T) > 0;
  } else if constexpr (kind == category::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return sizeof...(I) > 0 && (is_flat<std::remove_cv_t<std::tuple_element_t<I, T>>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (kind == category::record) {
    return detail::are_flat(field_types<T>{});
  } else if constexpr (kind == category::listed) {
    return detail::is_flat_class<T>(own_fields<T>{}, base_list<T>{});
  } else {
    return false;
  }
}

template <class T>
concept flat = is_flat<T>();

/// A container whose elements are contiguous in memory.
template <class T>
concept contiguous = requires(T& t) {
  { t.data() } -> std::same_as<typename T::value_type*>;
  t.size();
};

/// A string.
template <class T>
concept text = contiguous<T> && std::same_as<typename T::value_type, char> && requires(T& t) { t.append(t); };

}  // namespace cairn::detail
