// SPDX-License-Identifier: MIT
// Finds what a class has for Cairn and could not be used: lines that are private or of another form, and adapters.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/adapter.hpp"
#include "cairn/state/arity.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/skip.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1::detail {

struct line_names {
  int cairn_fields, cairn_bases, cairn_skip, cairn_version, cairn_changes, cairn_migrate;
};

/// A name is ambiguous in it if T has the name, also where it is private. Not for a final class: then no name is.
template <class T>
struct with_line_names : T, line_names {};
template <class T>
requires(std::is_final_v<T>)
struct with_line_names<T> : line_names {};

template <class T>
concept names_cairn_fields = !requires { &with_line_names<T>::cairn_fields; };
template <class T>
concept names_cairn_bases =
    !requires { &with_line_names<T>::cairn_bases; } || (std::is_final_v<T> && requires { typename T::cairn_bases; });
template <class T>
concept names_cairn_skip = !requires { &with_line_names<T>::cairn_skip; };
template <class T>
concept names_cairn_version = !requires { &with_line_names<T>::cairn_version; };
template <class T>
concept names_cairn_changes = !requires { &with_line_names<T>::cairn_changes; };
template <class T>
concept names_cairn_migrate = !requires { &with_line_names<T>::cairn_migrate; };

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

/// What is wrong with the lines of a record or a listed class.
template <class T>
consteval problem problem_of_lines() {
  if constexpr (names_cairn_fields<T> && !has_field_list<T>)
    return problem::fields_line;
  else if constexpr (names_cairn_bases<T> && !has_base_list<T>)
    return problem::bases_line;
  else if constexpr (names_cairn_skip<T> && !has_skip_list<T>)
    return problem::skip_line;
  else if constexpr (names_cairn_version<T> && !declares_version<T>)
    return problem::version_type;
  else if constexpr (names_cairn_changes<T> && !has_changes<T>)
    return problem::changes_line;
  else if constexpr (names_cairn_migrate<T> && !has_migration<T>)
    return problem::migration;
  else if constexpr (category_of<T>() == category::listed)
    return detail::skips_beside_list<T>(own_fields<T>{}, base_list<T>{}) ? problem::skip_beside_fields : problem::none;
  else
    return shares_lines_with_base<T>() ? problem::lines_of_base : problem::none;
}

template <class T>
using view_of_adapter = decltype(adapter<T>::view(std::declval<T&>()));

/// An adapter whose view says the type of the elements.
template <class T>
concept has_tensor_view_adapter =
    has_view_adapter<T> && std::is_same_v<view_of_adapter<T>, tensor_view<typename view_of_adapter<T>::value_type>>;

template <class Element>
concept tensor_element = scalar_type<Element> || (complex_type<Element> && scalar_type<typename Element::value_type>);

struct fields_name {
  int fields;
};
/// The name is ambiguous in it if the adapter has it.
template <class Adapter>
struct with_fields_name : Adapter, fields_name {};

/// Whether the adapter has a member `fields`, which may be a template.
template <class Adapter>
concept names_fields = !std::is_final_v<Adapter> && !requires { &with_fields_name<Adapter>::fields; };

template <class Record>
consteval auto record_types() {
  if constexpr (std::is_same_v<field_types<Record>, no_address>)
    return type_list<>{};
  else
    return field_types<Record>{};
}

/// Whether each object of type Part has a T in it, so that a T saved as a Part has no end. Looks through 16 types.
template <class Part, class T, int Depth = 0>
consteval bool always_has() {
  if constexpr (std::is_same_v<Part, T>)
    return true;
  else if constexpr (Depth == 16)
    return false;
  else if constexpr (has_copy_adapter<Part>)
    return always_has<copy_type<Part>, T, Depth + 1>();
  else if constexpr (category_of<Part>() == category::tuple)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (always_has<std::remove_cvref_t<std::tuple_element_t<I, Part>>, T, Depth + 1>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<Part>>{});
  else if constexpr (category_of<Part>() == category::record)
    return []<class... Types>(type_list<Types...>) {
      return (always_has<std::remove_cv_t<Types>, T, Depth + 1>() || ...);
    }(record_types<Part>());
  else if constexpr (category_of<Part>() == category::listed)
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return (always_has<std::remove_cv_t<type_of<Members>>, T, Depth + 1>() || ...) ||
             (always_has<Bases, T, Depth + 1>() || ...);
    }(own_fields<Part>{}, base_list<Part>{});
  else
    return false;
}

template <class T>
consteval problem problem_of_adapter() {
  if constexpr (has_view_adapter<T>) {
    if constexpr (has_tensor_view_adapter<T>)
      return tensor_element<std::remove_cv_t<typename view_of_adapter<T>::value_type>> ? problem::none
                                                                                       : problem::tensor_of_objects;
    else
      return std::is_convertible_v<view_of_adapter<T>, any_tensor_view> ? problem::none : problem::adapter_form;
  } else if constexpr (has_copy_adapter<T>) {
    if constexpr (always_has<copy_type<T>, T>())
      return problem::adapter_of_itself;
    else
      return requires(T& object, copy_type<T> copy) {
        adapter<T>::set(object, std::move(copy));
      } ? problem::none : problem::adapter_form;
  } else {
    return names_fields<adapter<T>> ? problem::none : problem::adapter_form;
  }
}

}  // namespace cairn::inline v0_1::detail
