// SPDX-License-Identifier: MIT
// Finds class members that would have the same path in a checkpoint, and the member for which a record is refused.
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

/// The name of a part of a state that the format of files keeps for itself.
inline constexpr std::string_view reserved_name = "__metadata__";

struct any_value {
  template <class T>
  any_value(const T&) noexcept;
};

/// Takes fields of which number `sizeof...(Before)` has an address.
template <class Before>
struct take_address_after;
template <std::size_t... Before>
struct take_address_after<std::index_sequence<Before...>> {
  template <class T, class... After>
  static void take(copy_of<any_value, Before>..., T&, const After&...);
};

struct take_values {
  template <class... Fields>
  constexpr int operator()(const Fields&...) const noexcept {
    return 0;
  }
};

template <class Record, std::size_t I>
consteval bool has_address() {
  using takes = take_address_after<std::make_index_sequence<I>>;
  return std::is_same_v<int,
                        decltype(detail::bind_fields<arity<Record>, takes>(std::declval<Record&>(), take_values{}))>;
}

template <class Record, std::size_t I, std::size_t... Following>
consteval bool needs_reference(std::index_sequence<Following...>) {
  return braces<I>::template take<Record, any_reference, copy_of<any_reference, Following>...> &&
         !braces<I + 1>::template take<Record, copy_of<any_reference, Following>...>;
}

/// Whether field I is a reference, where no other references follow, or up to three follow at once.
template <class Record, std::size_t I>
consteval bool is_reference() {
  return needs_reference<Record, I>(std::make_index_sequence<0>{}) ||
         needs_reference<Record, I>(std::make_index_sequence<1>{}) ||
         needs_reference<Record, I>(std::make_index_sequence<2>{}) ||
         needs_reference<Record, I>(std::make_index_sequence<3>{});
}

template <class Record, std::size_t I, class... Types>
consteval bool is_volatile_or_packed(type_list<Types...>) {
  constexpr bool refused[] = {(std::is_volatile_v<Types> || alignof(Types) > alignof(Record))...};
  return refused[I];
}

/// Whether field I is the problem.
template <class Record, problem What, std::size_t I>
consteval bool is_refused_member() {
  if constexpr (What == problem::reference_member)
    return is_reference<Record, I>();
  else if constexpr (What == problem::union_member)
    return converts_at<Record, I, any_unnamed_union>;
  else if constexpr (std::is_same_v<field_types<Record>, no_address>)
    return !has_address<Record, I>();
  else
    return is_volatile_or_packed<Record, I>(field_types<Record>{});
}

template <std::size_t Number, std::size_t Digits = Number < 10    ? 1
                                                   : Number < 100 ? 2
                                                                  : 3>
inline constexpr auto digits_of = [] {
  std::array<char, Digits> digits{};
  for (std::size_t i = Digits, rest = Number; i > 0; rest /= 10) digits[--i] = static_cast<char>('0' + rest % 10);
  return digits;
}();

template <class Record>
concept has_field_names =
    is_bindable<Record> && !std::is_same_v<field_types<Record>, no_address> && has_field_pointers<Record>;

template <class Record, problem What, std::size_t I = 0>
consteval std::string_view find_refused_member() {
  if constexpr (I == max_fields)
    return {};
  else if constexpr (!is_refused_member<Record, What, I>())
    return find_refused_member<Record, What, I + 1>();
  else if constexpr (has_field_names<Record>)
    return stored_field_name<Record, I>.view();
  else
    return {digits_of<I + 1>.data(), digits_of<I + 1>.size()};
}

/// The member's name, or its number from 1 if C++ gives no name; empty: unknown, or the whole record is the problem.
template <class Record, problem What>
consteval std::string_view refused_member() {
  if constexpr (What == problem::reference_member || What == problem::union_member || What == problem::no_address ||
                What == problem::volatile_part)
    return find_refused_member<Record, What>();
  else
    return {};
}

}  // namespace cairn::inline v0_1::detail
