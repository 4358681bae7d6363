// SPDX-License-Identifier: MIT
// Why a type cannot be saved or loaded, and which of these reasons a class has that is saved by its members.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/adapter.hpp"
#include "cairn/state/arity.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/changed_fields.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/name_text.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/skip.hpp"
#include "cairn/state/skipped_fields.hpp"

namespace cairn::inline v0_1::detail {

/// One for each thing that a user can do about it.
enum class problem : unsigned char {
  none,
  unknown_type,
  raw_pointer,
  function_pointer,
  pointee,  // of a smart pointer: an array, void, incomplete or volatile
  polymorphic_without_list,
  polymorphic_list,
  list_without_rtti,
  virtual_destructor,
  union_member,
  no_object,       // a bit-field, or a packed or volatile member
  unknown_fields,  // of an aggregate
  hidden_members,  // of a class with the operations of a container or the like
  own_members,     // that the lines of the class leave out
  line_form,
  skip_list,
  changes,
  path,
  const_part,     // for a load only
  const_content,  // of what a load assigns or makes as a whole
  no_default_constructor,
  keys,
  element_type,  // of a span, valarray or tensor
  device_tensor,
  adapter_header,
  adapter_form,
  lacks_operations,  // though it is said to be a container
  lossy,             // its operations do not show all
  cereal_functions,
  cereal_constructor,
  enum_list
};

template <class Record, class... Types>
consteval bool is_packed(type_list<Types...>) {
  return ((alignof(Types) > alignof(Record)) || ...);
}

template <class... Types>
consteval bool has_volatile(type_list<Types...>) {
  return (std::is_volatile_v<Types> || ...);
}

template <class Record>
consteval problem problem_of_record() {
  if constexpr (counted_fields<Record>.known && counted_fields<Record>.has_union)
    return problem::union_member;
  else if constexpr (!counted_fields<Record>.known || !counted_fields<Record>.bases_are_empty ||
                     arity<Record> > max_fields)
    return problem::unknown_fields;
  else if constexpr (std::is_same_v<field_types<Record>, no_address>)
    return problem::no_object;
  else if constexpr (detail::is_packed<Record>(field_types<Record>{}) || detail::has_volatile(field_types<Record>{}))
    return problem::no_object;
  else if constexpr (has_reference_member<Record>)
    return problem::unknown_fields;
  else if constexpr (has_skip_list<Record>)
    return is_list_of_fields<Record>() ? problem::none : problem::skip_list;
  else
    return problem::none;
}

/// "base" and "base1" to "base9"; the same name for all others.
template <std::size_t I>
consteval std::string_view name_of_base() {
  constexpr std::string_view names = "base1base2base3base4base5base6base7base8base9";
  return I == 0 ? names.substr(0, 4) : names.substr((I < 10 ? I - 1 : 8) * 5, 5);
}

template <class T, class... Bases>
consteval std::size_t number_of_base(bases<Bases...>) {
  std::size_t number = 0;
  bool found = false;
  ((found = found || std::is_same_v<T, Bases>, number += found ? 0 : 1), ...);
  return number;
}

/// The names of parts that a walk of a record or listed class passes, with those of base classes. No name: not state.
template <class T>
consteval auto part_names();

/// Of a base class in the list of T. The same one again has the same names.
template <class T, class Base>
consteval auto part_names_of_base() {
  constexpr auto kind = category_of<Base>();
  if constexpr (kind == category::record || kind == category::listed)
    return part_names<Base>();
  else
    return std::array{name_of_base<number_of_base<Base>(base_list<T>{})>()};
}

template <class T>
consteval auto part_names() {
  if constexpr (category_of<T>() == category::record) {
    if constexpr (problem_of_record<T>() != problem::none)  // the record itself is refused
      return std::array<std::string_view, 0>{};
    else
      return []<class... Types, std::size_t... I>(type_list<Types...>, std::index_sequence<I...>) {
        return std::array<std::string_view, sizeof...(I)>{
            (is_skipped_field<T, I, Types>() ? std::string_view() : stored_field_name<T, I>.view())...};
      }(field_types<T>{}, std::make_index_sequence<arity<T>>{});
  } else {
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return join_arrays<std::string_view>(
          part_names_of_base<T, Bases>()...,
          std::array<std::string_view, sizeof...(Members)>{
              (is_skip<type_of<Members>> ? std::string_view() : listed_name<Members>())...});
    }(own_fields<T>{}, base_list<T>{});
  }
}

/// The name that two parts of a listed class have; empty: each has its own.
template <class T>
consteval std::string_view name_of_two() {
  constexpr auto names = part_names<T>();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!names[i].empty() && names[i] == names[j]) return names[i];
  return {};
}

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

template <class T, class Base>
concept has_same_skip_list = has_skip_list<T> && has_skip_list<Base> && !std::is_same_v<T, Base> &&
                             std::is_same_v<typename T::cairn_skip, typename Base::cairn_skip>;
template <class T, class Base>
concept has_same_changes = has_changes<T> && has_changes<Base> && !std::is_same_v<T, Base> &&
                           std::is_same_v<typename T::cairn_changes, typename Base::cairn_changes>;

template <class Derived>
struct base_with_same_lines {
  template <class Base>
  requires(std::is_base_of_v<Base, Derived> && (has_same_skip_list<Derived, Base> || has_same_changes<Derived, Base>))
  operator Base() const noexcept;
};

/// Whether a base class of the aggregate has its `cairn_skip` or `cairn_changes`. C++ does not say which of the two
/// classes contains the line.
template <class T>
consteval bool shares_lines_with_base() {
  if constexpr ((has_skip_list<T> || has_changes<T>) && counted_fields<T>.bases > 0)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (converts_at<T, I, base_with_same_lines<T>> || ...);
    }(std::make_index_sequence<counted_fields<T>.bases>{});
  else
    return false;
}

/// Whether a class with a field list has a `cairn_skip`, and not that of a class whose members it lists.
template <class T, auto... Members, class... Bases>
consteval bool skips_beside_list(fields<Members...>, bases<Bases...>) {
  return has_skip_list<T> && !(has_skip_list<Bases> || ...) && (std::is_same_v<class_of<Members>, T> && ...);
}

/// What is wrong with the field list and the list of base classes.
template <class T>
consteval problem problem_of_lists() {
  if constexpr (!detail::lists_only_members<T>() || !detail::can_access<T>(own_fields<T>{}) ||
                !detail::can_access<T>(base_list<T>{}))
    return problem::line_form;
  else if constexpr (!has_own_list<T>() && !has_base_list<T>)
    return problem::own_members;
  else if constexpr (!has_own_list<T>() && !detail::has_only<T>(base_list<T>{}))
    return problem::own_members;
  else
    return name_of_two<T>().empty() ? problem::none : problem::path;
}

template <class T>
consteval bool is_usable_change(const change& each) {
  if (has_member_named<T>(each.name) == (each.what == change::kind::removed)) return false;
  if (each.what == change::kind::renamed && has_member_named<T>(each.former)) return false;
  if constexpr (has_version<T>)
    return each.what != change::kind::since || each.version <= T::cairn_version;
  else
    return each.what != change::kind::since;
}

template <class T>
consteval bool has_usable_changes() {
  if constexpr (changed<T>) {
    using list = change_rows<typename T::cairn_changes>;
    for (const change& each : list::all)
      if (!is_usable_change<T>(each)) return false;
    return list::known;
  } else {
    return true;
  }
}

template <class... Bases>
consteval bool has_versioned(bases<Bases...>) {
  return (has_version<Bases> || ...);
}

/// What is wrong with the changes, the version and the migration of a class that can be saved without them.
template <class T>
consteval problem problem_of_changes() {
  if constexpr (detail::has_versioned(base_list<T>{}) || !has_usable_changes<T>()) {
    return problem::changes;
  } else if constexpr (has_version<T>) {
    return std::is_same_v<decltype(T::cairn_version), const unsigned> &&
                   (!declares_migration<T> || (has_migration<T> && default_made<T>))
               ? problem::none
               : problem::line_form;
  } else {
    return declares_migration<T> && !declares_version<T> ? problem::line_form : problem::none;
  }
}

/// Of a record or a listed class.
template <class T>
consteval problem problem_of_class() {
  constexpr problem found = [] {
    if constexpr (has_unusable_line<T>())
      return problem::line_form;
    else if constexpr (category_of<T>() == category::record)
      return shares_lines_with_base<T>() ? problem::skip_list : problem_of_record<T>();
    else
      return detail::skips_beside_list<T>(own_fields<T>{}, base_list<T>{}) ? problem::skip_list : problem_of_lists<T>();
  }();
  if constexpr (found == problem::none && (has_changes<T> || declares_version<T> || declares_migration<T>))
    return problem_of_changes<T>();
  else
    return found;
}

}  // namespace cairn::inline v0_1::detail
