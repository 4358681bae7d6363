// SPDX-License-Identifier: MIT
// The lines by which a class with private members, or with base classes, lists what to save.
#pragma once

#include <type_traits>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// Members to save, named as in the class; a trailing underscore is left out of the path:
/// `static auto cairn_fields() { return cairn::fields<&counter::hits_, &counter::seen_>{}; }` as a public
/// line of class `counter`. A derived class that has no such line of its own is refused, as its members would be lost.
template <auto... Members>
struct fields {};

/// Base classes to save, too: `using cairn_bases = cairn::bases<layer>;` as a public line of the derived class, in
/// which it lists its own members by `cairn_fields` if it has any. The fields of a base class have the same paths as in
/// an object of that class; a base class without fields, such as a container, is the part `base` (the first in the
/// list) or `base1`, `base2`, ...
template <class... Classes>
struct bases {};

namespace detail {

template <class T>
inline constexpr bool is_field_list = false;
template <auto... Members>
inline constexpr bool is_field_list<fields<Members...>> = true;

template <class T>
inline constexpr bool is_base_list = false;
template <class... Classes>
inline constexpr bool is_base_list<bases<Classes...>> = true;

/// The class, or one of its base classes, has a field list.
template <class T>
concept has_field_list = is_field_list<std::remove_cvref_t<decltype(T::cairn_fields())>>;

/// The class, or one of its base classes, has a list of base classes.
template <class T>
concept has_base_list = is_base_list<typename T::cairn_bases>;

}  // namespace detail
}  // namespace cairn::inline v0_1
