// Types with a fixed layout of elements. A container of them is saved as columns: one leaf per field, not per object.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/record.hpp"

namespace cairn::detail {

template <class T>
consteval bool is_flat();

template <class Object, class Member>
Member member_type(Member Object::*);

template <auto... Members>
consteval bool are_flat_members(fields<Members...>) {
  return sizeof...(Members) > 0 && (is_flat<decltype(member_type(Members))>() && ...);
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
    return []<class... Types>(type_list<Types...>) {
      return sizeof...(Types) > 0 && (is_flat<std::remove_const_t<Types>>() && ...);
    }(field_types<T>{});
  } else if constexpr (kind == category::listed) {
    return are_flat_members(decltype(T::cairn_fields()){});
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
