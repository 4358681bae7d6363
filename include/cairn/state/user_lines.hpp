// SPDX-License-Identifier: MIT
// Finds the lines that a class has for Cairn, but that would not be used: private ones, ones of another form, and those of a base class.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "cairn/state/arity.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/skip.hpp"

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

/// Whether a base class of the aggregate has its `cairn_skip` or `cairn_changes`. C++ does not say which of the two classes contains the line.
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

}  // namespace cairn::inline v0_1::detail
