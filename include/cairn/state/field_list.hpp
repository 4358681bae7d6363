// The line by which a class with private members, or with base classes, lists its members to save.
#pragma once

namespace cairn {

/// Members to save, named as in the class; a trailing underscore is left out of the path:
/// `static auto cairn_fields() { return cairn::fields<&counter::hits_, &counter::seen_>{}; }` as a public
/// line of class `counter`.
template <auto... Members>
struct fields {};

namespace detail {

template <class T>
inline constexpr bool is_field_list = false;
template <auto... Members>
inline constexpr bool is_field_list<fields<Members...>> = true;

template <class T>
concept has_field_list = is_field_list<decltype(T::cairn_fields())>;

}  // namespace detail
}  // namespace cairn
