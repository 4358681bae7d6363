// Types with a fixed layout of elements. A container of them is saved as columns: one leaf per field, not per object.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/skipped_fields.hpp"

namespace cairn::detail {

template <class T>
consteval bool is_flat();

template <class T, bool IsSkipped>
consteval bool is_flat_or_skipped() {
  if constexpr (IsSkipped)
    return true;
  else
    return is_flat<T>();
}

template <class Object, class Member>
Member member_type(Member Object::*);

template <auto... Members>
consteval bool are_flat_members(fields<Members...>) {
  return sizeof...(Members) > 0 && (is_flat<decltype(member_type(Members))>() && ...);
}

/// Whether a record has fields that are state, all of them flat. Those that are not state may be of any type that a container can move.
template <class T, class... Types>
consteval bool are_flat_fields(type_list<Types...>) {
  if constexpr (has_skip_list<T> || (is_skip<Types> || ...))
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return !(is_skipped_field<T, I, Types>() && ...) && std::is_default_constructible_v<T> &&
             std::is_move_constructible_v<T> &&
             (is_flat_or_skipped<std::remove_const_t<Types>, is_skipped_field<T, I, Types>()>() && ...);
    }(std::index_sequence_for<Types...>{});
  else
    return sizeof...(Types) > 0 && (is_flat<std::remove_const_t<Types>>() && ...);
}

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
      return sizeof...(I) > 0 && (is_flat<std::remove_const_t<std::tuple_element_t<I, T>>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (kind == category::record) {
    return are_flat_fields<T>(field_types<T>{});
  } else if constexpr (kind == category::listed) {
    return are_flat_members(decltype(T::cairn_fields()){});
  } else {
    return false;
  }
}

/// Whether a record of fixed layout, or a part of it, has fields that are not state.
template <class T>
consteval bool has_skipped() {
  if constexpr (category_of<T>() == category::record) {
    return []<class... Types>(type_list<Types...>) {
      return has_skip_list<T> || ((is_skip<Types> || has_skipped<std::remove_const_t<Types>>()) || ...);
    }(field_types<T>{});
  } else if constexpr (category_of<T>() == category::fixed_array) {
    return has_skipped<std::remove_cvref_t<decltype(std::declval<T&>()[0])>>();
  } else if constexpr (category_of<T>() == category::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_skipped<std::remove_const_t<std::tuple_element_t<I, T>>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    return false;
  }
}

/// Whether objects of the type add nothing to a checkpoint.
template <class T>
consteval bool adds_nothing() {
  if constexpr (category_of<T>() == category::record) {
    return []<class... Types>(type_list<Types...>) {
      if constexpr (has_skip_list<T> || (is_skip<Types> || ...))
        return []<std::size_t... I>(std::index_sequence<I...>) {
          return (is_skipped_field<T, I, Types>() && ...);
        }(std::index_sequence_for<Types...>{});
      else
        return std::is_empty_v<T>;
    }(field_types<T>{});
  } else {
    return is_skip<T> || std::is_empty_v<T>;
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
