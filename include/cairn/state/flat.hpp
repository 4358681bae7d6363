// SPDX-License-Identifier: MIT
// Types with a fixed layout of elements. A container of them is saved as columns: one leaf per field, not per object.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/changed_fields.hpp"
#include "cairn/state/enum_names.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/skipped_fields.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
consteval bool is_flat();

/// Whether each T has its `Base` at the same offset. A virtual base has none.
template <class T, class Base>
concept has_fixed_base = std::is_same_v<T, Base> || requires(Base& base) { static_cast<T&>(base); };

template <class T, bool IsSkipped>
consteval bool is_flat_or_skipped() {
  if constexpr (IsSkipped)
    return true;
  else
    return is_flat<T>();
}

template <class T, auto... Members, class... Bases>
consteval bool is_flat_class(fields<Members...>, bases<Bases...>) {
  return sizeof...(Members) + sizeof...(Bases) > 0 &&
         ((has_fixed_base<T, class_of<Members>> && is_flat<std::remove_cv_t<type_of<Members>>>()) && ...) &&
         ((has_fixed_base<T, Bases> && is_flat<Bases>()) && ...);
}

/// Whether a record has fields that are state, all flat. The others may be of any type that a container can move.
template <class T, class... Types>
consteval bool are_flat_fields(type_list<Types...>) {
  if constexpr (has_skip_list<T> || (is_skip<Types> || ...))
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return !(is_skipped_field<T, I, Types>() && ...) && default_made<T> && std::is_move_constructible_v<T> &&
             (is_flat_or_skipped<std::remove_const_t<Types>, is_skipped_field<T, I, Types>()>() && ...);
    }(std::index_sequence_for<Types...>{});
  else
    return sizeof...(Types) > 0 && (is_flat<std::remove_const_t<Types>>() && ...);
}
template <class T>
consteval bool are_flat_fields(no_address) {
  return false;
}

/// True if all objects of the type have the same elements at the same offsets: numbers, fixed arrays, records of them.
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
    return detail::are_flat_fields<T>(field_types<T>{});
  } else if constexpr (kind == category::listed) {
    return detail::is_flat_class<T>(own_fields<T>{}, base_list<T>{});
  } else {
    return false;
  }
}

/// What a walk of objects of fixed layout has to know.
struct row_traits {
  bool has_skipped = false;        ///< some fields are not state
  bool is_listed = false;          ///< a list names the members of some part, so there may be others
  bool is_filled_at_once = false;  ///< a load may write to the objects during the walk, so these must exist
};
constexpr row_traits operator|(row_traits a, row_traits b) noexcept {
  return {a.has_skipped || b.has_skipped, a.is_listed || b.is_listed, a.is_filled_at_once || b.is_filled_at_once};
}

template <class T>
consteval row_traits traits_of_rows();

template <class... Types>
consteval row_traits join_traits(type_list<Types...>) {
  return (row_traits{} | ... | traits_of_rows<std::remove_cv_t<Types>>());
}

/// Of objects of a type of fixed layout, with their parts.
template <class T>
consteval row_traits traits_of_rows() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::scalar) {
    return {false, false, has_enum_names<T>};
  } else if constexpr (kind == category::record) {
    return []<class... Types>(type_list<Types...> types) {
      return row_traits{has_skip_list<T> || (is_skip<Types> || ...), false, has_version<T>} |
             detail::join_traits(types);
    }(field_types<T>{});
  } else if constexpr (kind == category::listed) {
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return row_traits{false, true, has_version<T>} | detail::join_traits(type_list<type_of<Members>..., Bases...>{});
    }(own_fields<T>{}, base_list<T>{});
  } else if constexpr (kind == category::fixed_array) {
    return traits_of_rows<std::remove_cvref_t<decltype(std::declval<T&>()[0])>>();
  } else if constexpr (kind == category::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return detail::join_traits(type_list<std::tuple_element_t<I, T>...>{});
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    return {};
  }
}

template <class T>
consteval bool has_skipped() {
  return traits_of_rows<T>().has_skipped;
}

/// A std::array of no elements.
template <class T>
inline constexpr bool has_no_elements = false;
template <class T>
requires requires { std::tuple_size<T>::value; }
inline constexpr bool has_no_elements<T> = std::tuple_size_v<T> == 0;

/// Whether objects of the type add nothing to a checkpoint.
template <class T>
consteval bool adds_nothing() {
  constexpr auto kind = category_of<T>();
  if constexpr (is_skip<T> || std::is_empty_v<T>) {
    return true;
  } else if constexpr (kind == category::record) {
    return []<class... Types, std::size_t... I>(type_list<Types...>, std::index_sequence<I...>) {
      return ((is_skipped_field<T, I, Types>() || adds_nothing<std::remove_cv_t<Types>>()) && ...);
    }(field_types<T>{}, std::make_index_sequence<arity<T>>{});
  } else if constexpr (kind == category::listed) {
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return (adds_nothing<std::remove_cv_t<type_of<Members>>>() && ...) && (adds_nothing<Bases>() && ...);
    }(own_fields<T>{}, base_list<T>{});
  } else if constexpr (kind == category::fixed_array) {
    using element = std::remove_cvref_t<decltype(std::declval<T&>()[0])>;
    return has_no_elements<T> || adds_nothing<element>();
  } else if constexpr (kind == category::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (adds_nothing<std::remove_cvref_t<std::tuple_element_t<I, T>>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    return false;
  }
}

template <class T>
concept flat = is_flat<T>();

/// `get<I>`: std::get, else a member function, else a function in the namespace of the type.
template <std::size_t I, class T>
auto& get_element(T& object) {
  if constexpr (requires { std::get<I>(object); }) {
    return std::get<I>(object);
  } else if constexpr (requires { object.template get<I>(); }) {
    return object.template get<I>();
  } else {
    using std::get;
    return get<I>(object);
  }
}

/// A std::tuple of references to all elements of a tuple.
template <class T>
auto tie_elements(T& object) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tie(detail::get_element<I>(object)...);
  }(std::make_index_sequence<std::tuple_size_v<T>>{});
}

/// Assigns what is state; members that a class does not list keep their values.
template <flat T>
void assign_state(T& to, T& from) {
  constexpr auto kind = category_of<T>();
  if constexpr (!traits_of_rows<T>().is_listed && !std::is_array_v<T>) {
    to = std::move(from);
  } else if constexpr (kind == category::listed) {
    [&]<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      (detail::assign_state<Bases>(to, from), ...);
      (detail::assign_state(to.*Members, from.*Members), ...);
    }(own_fields<T>{}, base_list<T>{});
  } else if constexpr (kind == category::fixed_array) {
    for (std::size_t i = 0; i < std::size(to); ++i) detail::assign_state(to[i], from[i]);
  } else {
    const auto assign = [&]<std::size_t... I>(auto left, auto right, std::index_sequence<I...>) {
      (detail::assign_state(std::get<I>(left), std::get<I>(right)), ...);
    };
    if constexpr (kind == category::record)
      assign(detail::tie_fields(to), detail::tie_fields(from), std::make_index_sequence<arity<T>>{});
    else
      assign(detail::tie_elements(to), detail::tie_elements(from), std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

/// A container whose elements are contiguous in memory.
template <class T>
concept contiguous = requires(T& t) {
  { t.data() } -> std::same_as<typename T::value_type*>;
  t.size();
};

/// A sequence that is saved as columns where it is, without an entry of its own.
template <class T>
concept column_sequence = contiguous<T> && flat<typename T::value_type>;

template <class T>
consteval bool is_number() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::fixed_array)
    return is_number<std::remove_cvref_t<decltype(std::declval<T&>()[0])>>();
  else
    return kind == category::scalar || kind == category::complex || kind == category::duration ||
           kind == category::wide_scalar || kind == category::wide_complex;
}

/// A string of any character type.
template <class T>
concept string = contiguous<T> && requires(T& t) { t.append(t); };

/// An array of numbers or of fixed arrays of them, and no text. If it is not empty, its size is that of the program, as
/// that of a tensor is.
template <class T>
concept number_array = category_of<T>() == category::valarray || category_of<T>() == category::bits ||
                       (contiguous<T> && is_number<typename T::value_type>() && !string<T>);

/// Whether a change of size may move elements. Not in the standard library's non-contiguous sequences: deques, lists.
template <class T>
consteval bool elements_move() {
  return contiguous<T> || !type_name_view<T>().starts_with("std::");
}

/// A string of char: saved as one text.
template <class T>
concept text = string<T> && std::same_as<typename T::value_type, char>;

}  // namespace cairn::inline v0_1::detail
