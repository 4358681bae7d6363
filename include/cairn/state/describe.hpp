// SPDX-License-Identifier: MIT
// Describes a state: a reference to any state -> its leaves and structure.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>

#include "cairn/state/base.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/state.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// What the public templates take. Also objects that cannot be saved: these are a compile-time error with advice
/// (refuse.hpp), which is shorter than that of a constraint.
template <class T>
concept state_object = std::is_object_v<T> && !std::is_volatile_v<T> && !std::derived_from<T, any_state>;

template <class T>
concept not_const = !std::is_const_v<T> && !std::same_as<T, const_state>;

}  // namespace detail

/// A type that can be saved. Its parts are not checked here: one that cannot be saved is a compile-time error with
/// advice where the state is used.
template <class T>
concept saveable =
    detail::state_object<T> && detail::category_of<std::remove_const_t<T>>() != detail::category::unsupported;

/// A type that a checkpoint can be loaded into: it can be saved and is not const.
template <class T>
concept loadable = saveable<T> && detail::not_const<T>;

/// A reference to a state that is saved.
template <detail::state_object State>
[[nodiscard]] any_state refer(const State& state) noexcept {
  return {std::addressof(state), detail::checked_walk<State, false>()};
}

/// The same of objects of which some are const.
[[nodiscard]] any_state refer(const const_state& state) noexcept;

/// A reference to a state that is saved or loaded into.
template <detail::state_object State>
requires detail::not_const<State>
[[nodiscard]] any_mutable_state refer(State& state) noexcept {
  return {{std::addressof(state), detail::checked_walk<State, true>()}};
}

namespace detail {

/// The same, with a message of one line for a const state.
template <state_object State>
[[nodiscard]] any_mutable_state refer_to_load(State& state) noexcept {
  static_assert(not_const<State>, "cairn: a const state can be saved but not loaded into");
  if constexpr (not_const<State>)
    return cairn::refer(state);
  else
    return {};
}

/// The leaves and structure of a state, in the order of its fields. Arrays are referred to, not copied: the description
/// is valid while the state lives and keeps its sizes. errc::invalid: two parts have one path, the nesting is deeper
/// than `max_nesting`, or an object's type is not in the list of its base class. What the functions of an object throw
/// is a cairn::error that names the object and the `checkpoint`. O(leaves + elements saved as copies).
[[nodiscard]] description describe(any_state state, rank_info here = {}, std::string_view checkpoint = "the state");

template <state_object State>
[[nodiscard]] description describe(const State& state, rank_info here = {}) {
  return detail::describe(cairn::refer(state), here);
}

}  // namespace detail
}  // namespace cairn::inline v0_1
