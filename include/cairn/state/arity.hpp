// The number of fields of an aggregate, also with C arrays in it, which Boost.PFR up to 1.81 counts element
// by element.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace cairn::detail {

struct anything {
  template <class T>
  operator T() const noexcept;
};

template <std::size_t>
using anything_at = anything;

template <class T, std::size_t... I>
constexpr bool takes_flat(std::index_sequence<I...>) {
  return requires { T{anything_at<I>{}...}; };
}

/// The largest number of initializers that T takes when braces around C arrays are left out. `Misses` counts
/// refused lengths in a row: a member that cannot be default-made needs the next one along.
template <class T, std::size_t Length = 0, std::size_t Misses = 0>
constexpr std::size_t flat_length() {
  if constexpr (takes_flat<T>(std::make_index_sequence<Length>{}))
    return flat_length<T, Length + 1, 0>();
  else if constexpr (Misses < 8 && Length < sizeof(T) * 8)
    return flat_length<T, Length + 1, Misses + 1>();
  else
    return Length - Misses - 1;
}

template <class T, std::size_t... Left, std::size_t... Right>
constexpr bool takes_empty_between(std::index_sequence<Left...>, std::index_sequence<Right...>) {
  return requires { T{anything_at<Left>{}..., {}, anything_at<Right>{}...}; };
}

/// How many of `Length` flat initializers the field at `First` eats, more than one only for a C array: empty
/// braces in their place leave room for `Rest` others.
template <class T, std::size_t First, std::size_t Length, std::size_t Rest>
constexpr std::size_t eaten() {
  if constexpr (takes_empty_between<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Rest>{}))
    return Length - First - Rest;
  else if constexpr (Rest == 0)
    return 1;
  else
    return eaten<T, First, Length, Rest - 1>();
}

template <class T, std::size_t First, std::size_t Length>
constexpr std::size_t fields_from() {
  if constexpr (First >= Length)
    return 0;
  else
    return 1 + fields_from<T, First + eaten<T, First, Length, Length - First - 1>(), Length>();
}

/// Number of fields. O(fields) template instantiations, each of an expression as long as the record.
template <class T>
inline constexpr std::size_t arity = fields_from<T, 0, flat_length<T>()>();

}  // namespace cairn::detail
