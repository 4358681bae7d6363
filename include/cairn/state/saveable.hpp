// Which types can be saved and loaded: the concepts that constrain the public templates.
#pragma once

#include <concepts>
#include <type_traits>

#include "cairn/state/any_state.hpp"
#include "cairn/state/category.hpp"

namespace cairn {

namespace detail {

// Compilers print the line of the constraint that fails, with the advice at its end.
// clang-format off

template <class T>
concept has_category = category_of<std::remove_const_t<T>>() != category::unsupported;  // cairn: this type cannot be saved as it is: make it an aggregate, or give it a public line `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, or specialise cairn::adapter<T>

template <class T>
concept not_const = !std::is_const_v<T> && !std::same_as<T, const_state>;  // cairn: a const state can be saved but not loaded into

// clang-format on

}  // namespace detail

/// A type that can be saved. Its parts are not checked here: one that cannot be saved is a compile-time error with advice
/// where the state is used (refuse.hpp).
template <class T>
concept saveable =
    std::is_object_v<T> && !std::is_volatile_v<T> && !std::derived_from<T, any_state> && detail::has_category<T>;

/// A type that a checkpoint can be loaded into: it can be saved and is not const.
template <class T>
concept loadable = saveable<T> && detail::not_const<T>;

}  // namespace cairn
