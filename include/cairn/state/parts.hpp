// SPDX-License-Identifier: MIT
// The parts of a class: the fields of an aggregate, the members and base classes that a class lists (`cairn_fields`,
// `cairn_bases`), the elements of a tuple. This file and aggregate.hpp are all that takes a class apart.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/aggregate.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

/// `parts_of<T>` has, of the parts of a T in the order in which they are saved:
/// - `types`, a type_list; `no_state` for a part that is not saved. No types of a record that cannot be taken apart.
/// - `count`, and `base_count`, how many of the first ones are base classes,
/// - `names`, an array; empty for a part that is not saved, and for a base class whose parts have paths as those of T,
/// - `apply(object, action)`, which calls `action` with references to all of them, and returns what it returns.
// With reflection (C++26) this struct would have other definitions, with the same names.
template <class T>
struct parts_of;

/// The type of a part that is not state.
struct no_state {};
template <>
inline constexpr bool is_skip<no_state> = true;

// The fields of an aggregate.

/// For each field of the record, whether the record's list names it.
template <has_skip_list Record>
inline constexpr auto skip_list = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<bool, sizeof...(I)>{Record::cairn_skip::contains(stored_field_name<Record, I>.view())...};
}(std::make_index_sequence<arity<Record>>{});

/// Whether each name of the list is that of a field.
template <has_skip_list Record>
consteval bool is_list_of_fields() {
  std::size_t found = 0;
  for (const bool each : skip_list<Record>) found += each ? 1 : 0;
  return found == Record::cairn_skip::count;
}

template <class Record, std::size_t I>
consteval bool is_skipped_field() {
  if constexpr (has_skip_list<Record>)
    return skip_list<Record>[I];
  else
    return false;
}

template <class Record, class... Types>
consteval auto types_of_parts(type_list<Types...> types) {
  if constexpr (has_skip_list<Record> || (is_skip<Types> || ...))
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return type_list<std::conditional_t<is_skip<Types> || is_skipped_field<Record, I>(), no_state, Types>...>{};
    }(std::index_sequence_for<Types...>{});
  else
    return types;
}
template <class Record>
consteval type_list<> types_of_parts(no_address) {
  return {};
}

template <class... Types>
consteval std::size_t count_of(type_list<Types...>) {
  return sizeof...(Types);
}

template <class T>
requires(category_of<T>() == category::record)
struct parts_of<T> {
  static constexpr bool are_known = !std::is_same_v<field_types<T>, no_address>;
  using types = decltype(types_of_parts<T>(field_types<T>{}));
  static constexpr std::size_t base_count = 0;
  static constexpr std::size_t count = count_of(types{});
  static constexpr std::array<std::string_view, count> names = []<class... Types, std::size_t... I>(
                                                                   type_list<Types...>, std::index_sequence<I...>) {
    return std::array<std::string_view, count>{
        (is_skip<Types> ? std::string_view() : stored_field_name<T, I>.view())...};
  }(types{}, std::make_index_sequence<count>{});

  template <class Object, class Action>
  static constexpr decltype(auto) apply(Object& object, const Action& action) {
    return detail::with_fields(object, action);
  }
};

// What a class lists.

template <class Class, class Type>
std::type_identity<Class> class_of_member(Type Class::*);
template <class Class, class Type>
std::type_identity<Type> type_of_member(Type Class::*);

/// The class in which the member is declared.
template <auto Member>
using class_of = typename decltype(class_of_member(Member))::type;
template <auto Member>
using type_of = typename decltype(type_of_member(Member))::type;

template <class T>
using field_list_of = std::remove_cvref_t<decltype(T::cairn_fields())>;

template <auto... Members>
consteval bool are_members(fields<Members...>) {
  return (std::is_member_object_pointer_v<decltype(Members)> && ...);
}

/// Whether the field list of T, if it has one, has addresses of members only.
template <class T>
consteval bool lists_members() {
  if constexpr (has_field_list<T>)
    return detail::are_members(field_list_of<T>{});
  else
    return true;
}

/// "nn::dense" in the signature of a function whose template argument is the address of a member such as
/// &nn::dense::cairn_fields.
consteval std::string_view owner_in(std::string_view signature) {
  signature.remove_prefix(signature.find("Value = ") + 8);
  if (signature.starts_with("(&")) signature.remove_prefix(1);
  while (signature.starts_with('&') || signature.starts_with(' ')) signature.remove_prefix(1);
  return signature.substr(0, signature.rfind("::cairn_"));
}

template <class T, auto... Members>
consteval bool has_member_of(fields<Members...>) {
  return (std::is_same_v<class_of<Members>, T> || ...);
}

/// Whether T has a field list of its own, and not only that of a base class: the list names a member that T declares,
/// or T is where the compiler finds the list.
template <class T>
consteval bool has_own_list() {
  if constexpr (!has_field_list<T> || !lists_members<T>())
    return false;
  else if constexpr (detail::has_member_of<T>(field_list_of<T>{}))
    return true;
  else if constexpr (requires { signature_of_value<&T::cairn_fields>(); })
    return owner_in(signature_of_value<&T::cairn_fields>()) == type_name_view<T>();
  else
    return false;
}

template <class T>
consteval auto find_own_fields() {
  if constexpr (has_own_list<T>())
    return field_list_of<T>{};
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

/// "base" and "base1" to "base9"; the same name for all others.
consteval std::string_view name_of_base(std::size_t i) {
  constexpr std::string_view names = "base1base2base3base4base5base6base7base8base9";
  return i == 0 ? names.substr(0, 4) : names.substr((i < 10 ? i - 1 : 8) * 5, 5);
}

template <class T>
concept has_member_names = category_of<T>() == category::record || category_of<T>() == category::listed;

/// Whether each T has its `Base` at the same offset. A virtual base has none.
template <class T, class Base>
concept has_fixed_base = std::is_same_v<T, Base> || requires(Base& base) { static_cast<T&>(base); };

template <class T, class Fields = own_fields<T>, class Bases = base_list<T>>
struct listed_parts;
template <class T, auto... Members, class... Bases>
struct listed_parts<T, fields<Members...>, bases<Bases...>> {
  using types = type_list<Bases..., std::conditional_t<is_skip<type_of<Members>>, no_state, type_of<Members>>...>;
  static constexpr std::size_t base_count = sizeof...(Bases);
  static constexpr std::size_t count = base_count + sizeof...(Members);
  static constexpr std::array<std::string_view, count> names = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, count>{
        (has_member_names<Bases> ? std::string_view() : name_of_base(I))...,
        (is_skip<type_of<Members>> ? std::string_view() : listed_name<Members>())...};
  }(std::index_sequence_for<Bases...>{});
  /// Whether all of them are at the same offsets in each T.
  static constexpr bool are_fixed = (has_fixed_base<T, class_of<Members>> && ...) && (has_fixed_base<T, Bases> && ...);

  template <class Action>
  static constexpr decltype(auto) apply(T& object, const Action& action) {
    return action(static_cast<Bases&>(object)..., object.*Members...);
  }
};
template <class T>
requires(category_of<T>() == category::listed)
struct parts_of<T> : listed_parts<T> {};

// The lines that a class has for Cairn.

struct line_names {
  int cairn_fields, cairn_bases, cairn_skip, cairn_version, cairn_changes, cairn_migrate;
};

/// A name is ambiguous in it if T has the name, also where it is private. Not for a final class: then no name is.
template <class T>
struct with_line_names : T, line_names {};
template <class T>
requires(std::is_final_v<T>)
struct with_line_names<T> : line_names {};

/// Whether T has a line that could not be used: it is private or of another form.
template <class T, class Named = with_line_names<T>>
consteval bool has_unusable_line() {
  constexpr bool names_bases = !requires { &Named::cairn_bases; } || requires { typename T::cairn_bases; };
  return (!requires { &Named::cairn_fields; } && !has_field_list<T>) || (names_bases && !has_base_list<T>) ||
         (!requires { &Named::cairn_skip; } && !has_skip_list<T>) ||
         (!requires { &Named::cairn_version; } && !declares_version<T>) ||
         (!requires { &Named::cairn_changes; } && !has_changes<T>) ||
         (!requires { &Named::cairn_migrate; } && !has_migration<T>);
}

// The elements of a tuple.

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

template <class T>
requires(category_of<T>() == category::tuple)
struct parts_of<T> {
  template <std::size_t... I>
  static type_list<std::tuple_element_t<I, T>...> find_types(std::index_sequence<I...>);

  static constexpr std::size_t base_count = 0;
  static constexpr std::size_t count = std::tuple_size_v<T>;
  using types = decltype(find_types(std::make_index_sequence<count>{}));
  /// "*" from the tenth on: in messages only.
  static constexpr std::array<std::string_view, count> names = []<std::size_t... I>(std::index_sequence<I...>) {
    constexpr std::string_view digits = "0123456789*";
    return std::array<std::string_view, count>{digits.substr(I < 10 ? I : 10, 1)...};
  }(std::make_index_sequence<count>{});

  template <class Object, class Action>
  static constexpr decltype(auto) apply(Object& object, const Action& action) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return action(detail::get_element<I>(object)...);
    }(std::make_index_sequence<count>{});
  }
};

/// Types with a fixed number of parts of their own.
template <class T>
concept has_parts = has_member_names<T> || category_of<T>() == category::tuple;

/// The type of the elements of a fixed array.
template <class T>
using array_element = std::remove_cvref_t<decltype(std::declval<T&>()[0])>;

}  // namespace cairn::inline v0_1::detail
