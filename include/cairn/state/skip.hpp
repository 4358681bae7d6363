// SPDX-License-Identifier: MIT
// Marks members that are not state: mutexes, caches, pointers to memory of others.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/name_text.hpp"

namespace cairn::inline v0_1 {

/// A member that is not state: no checkpoint has it; a load leaves it as it is. In an element that a load makes, it has
/// its default value. It acts as the `T`: `*member`, `member->x`, `member = value`, or `member` if a `T&` is needed.
template <class T>
struct skip {
  T value{};  ///< the member itself

  template <class Value>
  requires(std::assignable_from<T&, Value> && !std::same_as<std::remove_cvref_t<Value>, skip>)
  skip& operator=(Value&& from) {
    value = std::forward<Value>(from);
    return *this;
  }

  [[nodiscard]] T& operator*() noexcept { return value; }
  [[nodiscard]] const T& operator*() const noexcept { return value; }
  [[nodiscard]] T* operator->() noexcept { return &value; }
  [[nodiscard]] const T* operator->() const noexcept { return &value; }
  /// The member itself.
  [[nodiscard]] operator T&() noexcept { return value; }
  /// The member itself.
  [[nodiscard]] operator const T&() const noexcept { return value; }
};

/// Names of members. A public line `using cairn_skip = cairn::names<"cache", "lock">;` of a struct says that these
/// members are not state, as if each was a `cairn::skip`. A name that no member has is an error.
template <detail::name_text... Names>
struct names {
  /// How many names.
  static constexpr std::size_t count = sizeof...(Names);
  /// Whether `name` is one of them.
  [[nodiscard]] static constexpr bool contains(std::string_view name) noexcept {
    return ((Names.view() == name) || ...);
  }
};

namespace detail {

template <class T>
inline constexpr bool is_skip = false;
template <class T>
inline constexpr bool is_skip<skip<T>> = true;
template <class T>
inline constexpr bool is_skip<const skip<T>> = true;

/// A struct with a list of names of members to skip.
template <class T>
concept has_skip_list = requires { T::cairn_skip::contains(std::string_view{}); };

}  // namespace detail
}  // namespace cairn::inline v0_1
