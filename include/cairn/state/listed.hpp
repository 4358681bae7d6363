// SPDX-License-Identifier: MIT
// The fields and base classes that a class lists (`cairn_fields`, `cairn_bases`), and whether the list is inherited.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/arity.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

template <class Class, class Type>
std::type_identity<Class> class_of_member(Type Class::*);
template <class Class, class Type>
std::type_identity<Type> type_of_member(Type Class::*);

/// The class in which the member is declared.
template <auto Member>
using class_of = typename decltype(class_of_member(Member))::type;
template <auto Member>
using type_of = typename decltype(type_of_member(Member))::type;

template <class T, auto... Members>
consteval bool has_member_of(fields<Members...>) {
  return (std::is_same_v<class_of<Members>, T> || ...);
}

template <auto... Members>
consteval bool are_members(fields<Members...>) {
  return (std::is_member_object_pointer_v<decltype(Members)> && ...);
}

/// Whether the field list of T has addresses of members only.
template <class T>
inline constexpr bool lists_members = detail::are_members(std::remove_cvref_t<decltype(T::cairn_fields())>{});

/// "nn::dense" in the signature of a function whose template argument is the address of a member such as
/// &nn::dense::cairn_fields.
consteval std::string_view owner_in(std::string_view signature) {
  signature.remove_prefix(signature.find("Value = ") + 8);
  if (signature.starts_with("(&")) signature.remove_prefix(1);
  while (signature.starts_with('&') || signature.starts_with(' ')) signature.remove_prefix(1);
  return signature.substr(0, signature.rfind("::cairn_"));
}

/// Whether T has a field list of its own, and not only that of a base class: the list names a member that T declares,
/// or T is where the compiler finds the list.
template <class T>
consteval bool has_own_list() {
  if constexpr (!has_field_list<T>)
    return false;
  else if constexpr (!lists_members<T>)
    return false;
  else if constexpr (detail::has_member_of<T>(std::remove_cvref_t<decltype(T::cairn_fields())>{}))
    return true;
  else if constexpr (requires { signature_of_value<&T::cairn_fields>(); })
    return owner_in(signature_of_value<&T::cairn_fields>()) == type_name_view<T>();
  else
    return false;
}

template <class T>
consteval auto find_own_fields() {
  if constexpr (has_own_list<T>())
    return std::remove_cvref_t<decltype(T::cairn_fields())>{};
  else
    return fields<>{};
}
template <class T>
consteval auto find_base_list() {
  if constexpr (has_base_list<T>)
    return typename T::cairn_bases{};
  else
    return bases<>{};
}

/// The members that the class lists itself.
template <class T>
using own_fields = decltype(find_own_fields<T>());
template <class T>
using base_list = decltype(find_base_list<T>());

template <class... Bases>
consteval std::size_t count_of(bases<Bases...>) {
  return sizeof...(Bases);
}
template <class T>
inline constexpr std::size_t base_count = count_of(base_list<T>{});

template <class T, auto... Members>
consteval bool can_access(fields<Members...>) {
  return (requires(T& object) { object.*Members; } && ...);
}

template <class T, class... Bases>
consteval bool can_access(bases<Bases...>) {
  return ((std::is_base_of_v<Bases, T> && !std::is_same_v<Bases, T> && std::is_convertible_v<T*, Bases*>) && ...);
}

/// Whether the aggregate has these direct base classes, in this order, and nothing else.
template <class T, class... Bases>
consteval bool has_only(bases<Bases...>) {
  if constexpr (!std::is_aggregate_v<T>)
    return false;
  else
    return counted_fields<T>.known && counted_fields<T>.fields == sizeof...(Bases) &&
           []<std::size_t... I>(std::index_sequence<I...>) {
             return (braces<I>::template take<T, exactly<Bases>> && ...);
           }(std::index_sequence_for<Bases...>{});
}

template <class T>
consteval bool lists_only_members() {
  if constexpr (has_field_list<T>)
    return lists_members<T>;
  else
    return true;
}

}  // namespace cairn::inline v0_1::detail
