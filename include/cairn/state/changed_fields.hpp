// SPDX-License-Identifier: MIT
// What a class says about its changes, as a table for the walker.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "cairn/state/category.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/parts.hpp"

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

}  // namespace cairn::inline v0_1::detail
