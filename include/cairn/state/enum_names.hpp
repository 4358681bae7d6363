// SPDX-License-Identifier: MIT
// The list of an enum's values that checkpoints know by name.
#pragma once

#include <type_traits>

#include "cairn/state/name_text.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <auto Value, name_text Name, name_text... Former>
struct named_enumerator {};

}  // namespace detail

/// A value in a list, and the name that checkpoints store for it. A load also accepts the `Former` names.
template <detail::name_text Name, auto Value, detail::name_text... Former>
inline constexpr detail::named_enumerator<Value, Name, Former...> enumerator{};

/// Values of an enum, each as it is, stored under its name in C++, or as an `enumerator`.
template <auto... Values>
struct enumerators {};

/// Specialise it for an enum whose values are to be known by name, so that their numbers may change: `template <>
/// struct cairn::by_name<kind> : cairn::enumerators<kind::relu, cairn::enumerator<"tanh", kind::tanh_, "th">> {};` A
/// checkpoint has the numbers, and beside them the names. A value that is not listed is known by its number.
/// Checkpoints that were saved without names are loaded by number.
template <class Enum>
struct by_name;

namespace detail {

/// An enum with a `by_name`, which may be of another form.
template <class T>
concept names_its_values = std::is_enum_v<T> && requires { sizeof(by_name<T>); };

template <auto... Values>
void take_enumerators(const enumerators<Values...>*);

template <class T>
concept has_enum_names = names_its_values<T> && requires(const by_name<T>* list) { detail::take_enumerators(list); };

}  // namespace detail
}  // namespace cairn::inline v0_1
