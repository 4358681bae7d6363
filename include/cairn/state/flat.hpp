// SPDX-License-Identifier: MIT
// Types with a fixed layout of elements. A container of them is saved as columns: one leaf per field, not per object.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/parts.hpp"

namespace cairn::inline v0_1::detail {

/// What a save and a load have to know about the objects of a type, their parts included.
struct row_traits {
  bool is_fixed = false;           ///< all have the same elements at the same offsets: fixed layout
  bool is_empty = false;           ///< they add nothing to a checkpoint
  bool has_skipped = false;        ///< some parts are not state
  bool is_listed = false;          ///< a list names the members of some part, so there may be others
  bool is_filled_at_once = false;  ///< a load may write to the objects during the walk, so these must exist

  friend constexpr row_traits operator&(const row_traits& a, const row_traits& b) noexcept {
    return {a.is_fixed && b.is_fixed, a.is_empty && b.is_empty, a.has_skipped || b.has_skipped,
            a.is_listed || b.is_listed, a.is_filled_at_once || b.is_filled_at_once};
  }
};

template <class T>
consteval row_traits find_row_traits();
template <class T>
inline constexpr row_traits row_traits_of = find_row_traits<T>();

template <class T, class... Types>
consteval row_traits join_traits(type_list<Types...>) {
  constexpr row_traits skipped{true, true, true};  // a container of these alone has no column
  row_traits all = (row_traits{true, true} & ... & (is_skip<Types> ? skipped : row_traits_of<std::remove_cv_t<Types>>));
  all.is_fixed = all.is_fixed && (!is_skip<Types> || ...);
  if constexpr ((is_skip<Types> || ...))  // a container has to make and move these objects
    all.is_fixed = all.is_fixed && default_made<T> && std::is_move_constructible_v<T>;
  if constexpr (category_of<T>() == category::listed) {
    all.is_fixed = all.is_fixed && parts_of<T>::are_fixed;
    all.is_listed = true;
  }
  if constexpr (has_member_names<T>) all.is_filled_at_once = all.is_filled_at_once || has_version<T>;
  return all;
}

template <class T>
consteval row_traits find_row_traits() {
  constexpr auto kind = category_of<T>();
  if constexpr (is_skip<T>) {
    return {false, true, true};
  } else if constexpr (kind == category::scalar || kind == category::complex || kind == category::duration) {
    return {.is_fixed = true, .is_filled_at_once = has_enum_names<T>};
  } else if constexpr (kind == category::fixed_array) {
    row_traits all = row_traits_of<array_element<T>>;
    all.is_fixed = all.is_fixed && sizeof(T) > 0;
    if constexpr (is_std_array<T>) all.is_empty = all.is_empty || std::tuple_size_v<T> == 0;
    return all;
  } else if constexpr (has_parts<T>) {
    return detail::join_traits<T>(typename parts_of<T>::types{});
  } else {
    return {.is_empty = std::is_empty_v<T>};
  }
}

template <class T>
concept flat = row_traits_of<T>.is_fixed;

/// Assigns what is state; members that a class does not list keep their values.
template <flat T>
void assign_state(T& to, T& from) {
  if constexpr (!row_traits_of<T>.is_listed && !std::is_array_v<T>) {
    to = std::move(from);
  } else if constexpr (category_of<T>() == category::fixed_array) {
    for (std::size_t i = 0; i < std::size(to); ++i) detail::assign_state(to[i], from[i]);
  } else {
    parts_of<T>::apply(to, [&](auto&... left) {
      parts_of<T>::apply(from, [&](auto&... right) { (detail::assign_state(left, right), ...); });
    });
  }
}

/// A container whose elements are contiguous in memory.
template <class T>
concept contiguous = requires(T& t) {
  { t.data() } -> std::same_as<typename T::value_type*>;
  t.size();
};

/// A sequence that is saved as columns where it is, without an entry of its own.
template <class T>
concept column_sequence = contiguous<T> && flat<typename T::value_type>;

template <class T>
consteval bool is_number() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::fixed_array)
    return is_number<array_element<T>>();
  else
    return kind == category::scalar || kind == category::complex || kind == category::duration ||
           kind == category::wide_scalar;
}

/// A string of any character type.
template <class T>
concept string = contiguous<T> && requires(T& t) { t.append(t); };

/// An array of numbers or of fixed arrays of them, and no text. If it is not empty, its size is that of the program, as
/// that of a tensor is.
template <class T>
concept number_array = category_of<T>() == category::valarray || category_of<T>() == category::bits ||
                       (contiguous<T> && is_number<typename T::value_type>() && !string<T>);

/// Whether a change of size may move elements. Not in the standard library's non-contiguous sequences: deques, lists.
template <class T>
consteval bool elements_move() {
  return contiguous<T> || !type_name_view<T>().starts_with("std::");
}

/// A string of char: saved as one text.
template <class T>
concept text = string<T> && std::same_as<typename T::value_type, char>;

}  // namespace cairn::inline v0_1::detail
