// SPDX-License-Identifier: MIT
// Finds the member because of which a record is refused, for the message.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/record.hpp"

namespace cairn::inline v0_1::detail {

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

/// The name of the member, or its number from 1 where C++ gives no name; empty: unknown, or the whole record is the problem.
template <class Record, problem What>
consteval std::string_view refused_member() {
  if constexpr (What == problem::reference_member || What == problem::union_member || What == problem::no_address ||
                What == problem::volatile_part)
    return find_refused_member<Record, What>();
  else
    return {};
}

}  // namespace cairn::inline v0_1::detail
