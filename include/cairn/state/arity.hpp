// The number of fields of an aggregate.
#pragma once

#include <cstddef>
#include <utility>

namespace cairn::detail {

/// Converts to any type, in initializers that are not evaluated.
struct anything {
  template <class T>
  operator T() const noexcept;
};

template <std::size_t>
using anything_at = anything;

/// Whether `T{x, x, ...}` is valid with that many initializers. A C array takes one for each element, since braces may be left out.
template <class T, std::size_t... I>
constexpr bool takes_flat(std::index_sequence<I...>) {
  return requires { T{std::declval<anything_at<I>>()...}; };
}

/// The largest number of initializers that T takes, where T takes `Low` and not `High`.
template <class T, std::size_t Low, std::size_t High>
constexpr std::size_t bisect_length() {
  constexpr std::size_t middle = (Low + High) / 2;
  if constexpr (middle == Low)
    return Low;
  else if constexpr (takes_flat<T>(std::make_index_sequence<middle>{}))
    return bisect_length<T, middle, High>();
  else
    return bisect_length<T, Low, middle>();
}

/// As bisect_length, but doubles `Length` until T refuses. Precondition: T takes any number of initializers up to `Length`.
template <class T, std::size_t Length>
constexpr std::size_t double_length() {
  if constexpr (takes_flat<T>(std::make_index_sequence<2 * Length>{}))
    return double_length<T, 2 * Length>();
  else
    return bisect_length<T, Length, 2 * Length>();
}

/// As bisect_length, for a T with a member that needs an initializer: T refuses some numbers below the largest one. Tries all
/// numbers from `Length` on, until 8 in a row are refused. `Misses` counts these.
template <class T, std::size_t Length = 1, std::size_t Misses = 0>
constexpr std::size_t search_length() {
  if constexpr (takes_flat<T>(std::make_index_sequence<Length>{}))
    return search_length<T, Length + 1, 0>();
  else if constexpr (Misses < 8 && Length < sizeof(T) * 8)
    return search_length<T, Length + 1, Misses + 1>();
  else
    return Length - Misses - 1;
}

/// The largest number of initializers that T takes: one for each field, or for a C array one for each of its elements.
template <class T>
constexpr std::size_t flat_length() {
  if constexpr (!takes_flat<T>(std::index_sequence<>{}))
    return search_length<T>();
  else if constexpr (!takes_flat<T>(std::index_sequence<0>{}))
    return 0;
  else
    return double_length<T, 1>();
}

template <class T, std::size_t... Left, std::size_t... Right>
constexpr bool takes_empty_between(std::index_sequence<Left...>, std::index_sequence<Right...>) {
  return requires { T{std::declval<anything_at<Left>>()..., {}, std::declval<anything_at<Right>>()...}; };
}

/// Number of initializers used by the field at `First`. 1, except for a C array: then `{}` replaces all of them and `Rest`
/// initializers still fit after it.
template <class T, std::size_t First, std::size_t Length, std::size_t Rest = Length - First - 1>
constexpr std::size_t initializers_at() {
  if constexpr (takes_empty_between<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Rest>{}))
    return Length - First - Rest;
  else if constexpr (Rest == 0)
    return 1;
  else
    return initializers_at<T, First, Length, Rest - 1>();
}

template <class T, std::size_t First, std::size_t Length>
constexpr std::size_t fields_from() {
  if constexpr (First >= Length)
    return 0;
  else
    return 1 + fields_from<T, First + initializers_at<T, First, Length>(), Length>();
}

/// The number of fields; a C array is one. Instantiates O(fields) templates, each as long as the record.
template <class T>
inline constexpr std::size_t arity = fields_from<T, 0, flat_length<T>()>();

}  // namespace cairn::detail
