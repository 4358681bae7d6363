// SPDX-License-Identifier: MIT
// What a class says about its changes, and the names of an enum's values, as tables for the walker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "cairn/state/category.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/parts.hpp"
#include "cairn/state/words.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
struct change_rows {
  static constexpr bool known = false;
  static constexpr std::array<change, 0> all{};
};
template <name_text Name, name_text... Former>
struct change_rows<renamed<Name, Former...>> {
  static constexpr bool known = true;
  static constexpr std::array<change, sizeof...(Former)> all{
      change{change::kind::renamed, Name.view(), Former.view(), 0}...};
};
template <name_text... Names>
struct change_rows<added<Names...>> {
  static constexpr bool known = true;
  static constexpr std::array<change, sizeof...(Names)> all{change{change::kind::added, Names.view(), {}, 0}...};
};
template <unsigned Version, name_text... Names>
struct change_rows<since<Version, Names...>> {
  static constexpr bool known = true;
  static constexpr std::array<change, sizeof...(Names)> all{change{change::kind::since, Names.view(), {}, Version}...};
};
template <name_text... Names>
struct change_rows<removed<Names...>> {
  static constexpr bool known = true;
  static constexpr std::array<change, sizeof...(Names)> all{change{change::kind::removed, Names.view(), {}, 0}...};
};
template <name_text... Names>
struct change_rows<resizable<Names...>> {
  static constexpr bool known = true;
  static constexpr std::array<change, sizeof...(Names)> all{change{change::kind::resizable, Names.view(), {}, 0}...};
};
template <class... Changes>
struct change_rows<changes<Changes...>> {
  static constexpr bool known = (change_rows<Changes>::known && ...);
  static constexpr auto all = join_arrays<change>(change_rows<Changes>::all...);
};

/// Whether the list is that of one of the base classes in `cairn_bases`, which applies it to its own members.
template <class T, class... Bases>
consteval bool inherits_changes(bases<Bases...>) {
  const auto has_same = []<class Base>(std::type_identity<Base>) {
    if constexpr (has_changes<Base>)
      return std::is_same_v<typename Base::cairn_changes, typename T::cairn_changes>;
    else
      return false;
  };
  return (has_same(std::type_identity<Bases>{}) || ...);
}

template <class T>
consteval bool changes_itself() {
  if constexpr (!has_changes<T>)
    return false;
  else if constexpr (has_base_list<T>)
    return !detail::inherits_changes<T>(base_list<T>{});
  else
    return true;
}

/// A class with a list of changes to its own members.
template <class T>
concept changed = has_changes<T> && changes_itself<T>();

template <class T>
consteval bool is_versioned_itself() {
  if constexpr (!declares_version<T>)
    return false;
  else if constexpr (requires { signature_of_value<&T::cairn_version>(); })
    return owner_in(signature_of_value<&T::cairn_version>()) == type_name_view<T>();
  else
    return true;
}

/// A class with a version of its own, and not only that of a base class.
template <class T>
concept has_version = declares_version<T> && is_versioned_itself<T>();

/// Whether a member of the class has that name in a checkpoint.
template <class T>
consteval bool has_member_named(std::string_view name) {
  for (std::size_t i = parts_of<T>::base_count; i < parts_of<T>::count; ++i)
    if (parts_of<T>::names[i] == name) return true;
  return false;
}

/// The number that stands for a value in a table of names: above 2^63 - 1, that number minus 2^64.
template <class Enum>
constexpr std::int64_t enum_number(Enum value) noexcept {
  using number = std::underlying_type_t<Enum>;
  if constexpr (is_signed_integer(dtype_of<Enum>()) || std::is_same_v<number, bool>)
    return static_cast<std::int64_t>(value);
  else
    return static_cast<std::int64_t>(static_cast<std::make_unsigned_t<number>>(value));
}

template <auto Value>
consteval std::string_view enumerator_name_view() {
  return last_identifier(signature_of_value<Value>());
}
template <auto Value>
inline constexpr short_name<enumerator_name_view<Value>().size()> stored_enumerator_name{enumerator_name_view<Value>()};

/// The rows of one value. A value of another type has no name.
template <class Enum, auto Value, name_text Name, name_text... Former>
consteval auto named_rows(named_enumerator<Value, Name, Former...>) {
  if constexpr (std::is_same_v<std::remove_cv_t<decltype(Value)>, Enum>)
    return std::array<enum_entry, 1 + sizeof...(Former)>{enum_entry{enum_number(Value), Name.view(), false},
                                                         enum_entry{enum_number(Value), Former.view(), true}...};
  else
    return std::array<enum_entry, 1>{};
}

template <class Enum, auto Value>
consteval auto enumerator_rows() {
  if constexpr (std::is_same_v<std::remove_cv_t<decltype(Value)>, Enum>)
    return std::array<enum_entry, 1>{enum_entry{enum_number(Value), stored_enumerator_name<Value>.view(), false}};
  else if constexpr (requires { detail::named_rows<Enum>(Value); })
    return detail::named_rows<Enum>(Value);
  else
    return std::array<enum_entry, 1>{};
}

template <class Enum, auto... Values>
consteval auto rows_of(const enumerators<Values...>*) {
  return join_arrays<enum_entry>(detail::enumerator_rows<Enum, Values>()...);
}

/// The values that `cairn::by_name` lists, with their names.
template <class Enum>
inline constexpr auto enum_table = detail::rows_of<Enum>(static_cast<const by_name<Enum>*>(nullptr));

/// Whether each value has a name, and no value and no name is in the table twice.
template <class Enum>
consteval bool has_distinct_names() {
  const auto& all = enum_table<Enum>;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view name = all[i].name;
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (name == all[j].name || (all[i].number == all[j].number && !all[i].is_former && !all[j].is_former))
        return false;
  }
  return true;
}

/// The present name of the value; empty if it has none.
[[nodiscard]] std::string_view name_of_value(std::span<const enum_entry> names, std::int64_t number);
/// The value of that present or former name; null if there is none.
[[nodiscard]] const enum_entry* find_name(std::span<const enum_entry> names, std::string_view name);

}  // namespace cairn::inline v0_1::detail
