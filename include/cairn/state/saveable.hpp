// SPDX-License-Identifier: MIT
// Which types can be saved and loaded.
#pragma once

#include <concepts>
#include <type_traits>

#include "cairn/state/any_state.hpp"
#include "cairn/state/category.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// What the public templates take. Also objects that cannot be saved: these are a compile-time error with advice (refuse.hpp), which is shorter
/// than that of a constraint.
template <class T>
concept state_object = std::is_object_v<T> && !std::is_volatile_v<T> && !std::derived_from<T, any_state>;

template <class T>
concept not_const = !std::is_const_v<T> && !std::same_as<T, const_state>;

}  // namespace detail

/// A type that can be saved. Its parts are not checked here: one that cannot be saved is a compile-time error with advice
/// where the state is used.
template <class T>
concept saveable =
    detail::state_object<T> && detail::category_of<std::remove_const_t<T>>() != detail::category::unsupported;

/// A type that a checkpoint can be loaded into: it can be saved and is not const.
template <class T>
concept loadable = saveable<T> && detail::not_const<T>;

}  // namespace cairn::inline v0_1
