// SPDX-License-Identifier: MIT
// Finds members of a class that would have the same path in a checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/name_text.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/skipped_fields.hpp"

namespace cairn::inline v0_1::detail {

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

/// The names of the parts that a walk of a record or a listed class passes, with those of its base classes. Without a name: not state.
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

/// The name of a part of a state that the format of files keeps for itself.
inline constexpr std::string_view reserved_name = "__metadata__";

}  // namespace cairn::inline v0_1::detail
