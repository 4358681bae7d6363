// SPDX-License-Identifier: MIT
// The number of fields of an aggregate, and of the base classes among them.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/adapter.hpp"
#include "cairn/state/leading_bases.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

// These convert to the types of fields, in initializers that are not evaluated.

struct anything {
  template <class T>
  operator T() const noexcept;
};

struct any_reference {
  template <class T>
  operator T&() const noexcept;
};

/// Whether the name has a part like "<unnamed union>" or, of clang, "(anonymous union at x.cpp:1:1)". clang calls the
/// type of a member that has a name "(unnamed union at ...)".
consteval bool is_unnamed(std::string_view name) {
  constexpr std::string_view kinds[] = {"<unnamed union>", "(anonymous union at "};
  for (; !name.empty(); name.remove_prefix(1))
    for (const auto kind : kinds)
      if (name.starts_with(kind)) return true;
  return false;
}

/// A union without a name: it may be an anonymous one, whose members are members of the record.
template <class T>
concept unnamed_union = std::is_union_v<T> && !has_adapter<T> && is_unnamed(type_name_view<T>());

struct any_unnamed_union {
  template <unnamed_union T>
  operator T() const noexcept;
};

/// Converts to no type: what takes it is a constructor that takes anything.
struct no_value {};

/// Whether field I is initialized by a conversion of `Initializer`, and not by a constructor that takes anything.
template <class T, std::size_t I, class Initializer>
concept converts_at = braces<I>::template take<T, Initializer> && !braces<I>::template take<T, no_value>;

template <class Derived>
struct any_base {
  template <class T>
  requires(std::is_base_of_v<T, Derived>)
  operator T() const noexcept;
};

template <class Derived>
struct any_empty_base {
  template <class T>
  requires(std::is_base_of_v<T, Derived> && std::is_empty_v<T>)
  operator T() const noexcept;
};

template <class Type>
struct exactly {
  template <class T>
  requires(std::is_same_v<T, Type>)
  operator T() const noexcept;
};

/// The largest number of empty braces that T takes, where T takes `Low` of them and not `High`.
template <class T, std::size_t Low, std::size_t High>
consteval std::size_t bisect_braces() {
  constexpr std::size_t middle = (Low + High) / 2;
  if constexpr (middle == Low)
    return Low;
  else if constexpr (braces<middle>::template take<T>)
    return bisect_braces<T, middle, High>();
  else
    return bisect_braces<T, Low, middle>();
}

/// The same for a T that takes `Low` of them.
template <class T, std::size_t Low = 0>
consteval std::size_t largest_braces() {
  constexpr std::size_t high = Low == 0 ? 4 : 2 * Low;
  if constexpr (high > most_braces)
    return bisect_braces<T, Low, most_braces + 1>();
  else if constexpr (braces<high>::template take<T>)
    return largest_braces<T, high>();
  else
    return bisect_braces<T, Low, high>();
}

template <class Initializer, std::size_t>
using copy_of = Initializer;

/// Whether `T{x, x, ...}` is valid with that many initializers. A C array takes one per element: braces may be absent.
// The initializers are no constants: with constants g++ compiles the constructors that they call, which for
// `std::optional<Eigen::MatrixXf>` is an error.
template <class T, std::size_t... I>
consteval bool takes_flat(std::index_sequence<I...>) {
  return requires { T{std::declval<copy_of<anything, I>>()...}; };
}
template <class T, std::size_t Count>
inline constexpr bool takes_values = takes_flat<T>(std::make_index_sequence<Count>{});

// For aggregates with a field that no empty braces initialize: its type has no default constructor, or an explicit one.

/// More initializers are not tried.
inline constexpr std::size_t most_values = 128;

/// The smallest number of initializers that T takes; 0 if it takes none of the numbers that are tried.
template <class T, std::size_t Count = 1>
consteval std::size_t smallest_values() {
  if constexpr (takes_values<T, Count>)
    return Count;
  else if constexpr (Count == most_values)
    return 0;
  else
    return smallest_values<T, Count + 1>();
}

/// The elements of a C array of objects without a default constructor all need an initializer. Of longer arrays the
/// fields are not counted.
inline constexpr std::size_t most_elements = 16;

/// The next larger number of initializers that T takes; 0 if there is none.
template <class T, std::size_t Count, std::size_t More = 1>
consteval std::size_t next_values() {
  if constexpr (takes_values<T, Count + More>)
    return Count + More;
  else if constexpr (More == most_elements)
    return 0;
  else
    return next_values<T, Count, More + 1>();
}

/// The largest number of initializers that T takes, one for each element of a C array; 0: unknown.
template <class T, std::size_t Count>
consteval std::size_t largest_values() {
  if constexpr (Count == 0 || Count >= most_values)
    return 0;
  else if constexpr (next_values<T, Count>() == 0)
    return Count;
  else
    return largest_values<T, next_values<T, Count>()>();
}

template <class T, std::size_t... Left, std::size_t... Right>
consteval bool takes_empty_between(std::index_sequence<Left...>, std::index_sequence<Right...>) {
  return requires { T{std::declval<copy_of<anything, Left>>()..., {}, std::declval<copy_of<anything, Right>>()...}; };
}

template <class T, std::size_t... Left, std::size_t... Inside, std::size_t... Right>
consteval bool takes_nested(std::index_sequence<Left...>, std::index_sequence<Inside...>,
                            std::index_sequence<Right...>) {
  return requires {
    T{std::declval<copy_of<anything, Left>>()...,
      {std::declval<copy_of<anything, Inside>>()...},
      std::declval<copy_of<anything, Right>>()...};
  };
}

/// The same for a field that no `{}` initializes. A C array takes its initializers in braces, and then just as many
/// fewer after them; a field of a class may take some in braces, too, but then one fewer.
template <class T, std::size_t First, std::size_t Length, std::size_t Inside = 2>
consteval std::size_t initializers_of_array() {
  constexpr std::size_t left = Length - First;
  if constexpr (Inside > left)
    return 1;
  else if constexpr (takes_nested<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Inside>{},
                                     std::make_index_sequence<left - Inside>{}) &&
                     !takes_nested<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Inside>{},
                                      std::make_index_sequence<left - Inside + 1>{}))
    return Inside;
  else
    return initializers_of_array<T, First, Length, Inside + 1>();
}

/// Number of initializers used by the field at `First`. 1, except for a C array: then `{}` replaces all of them and
/// `Rest` initializers still fit after it.
template <class T, std::size_t First, std::size_t Length, std::size_t Rest = Length - First - 1>
consteval std::size_t initializers_at() {
  if constexpr (takes_empty_between<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Rest>{}))
    return Length - First - Rest;
  else if constexpr (Rest == 0)
    return initializers_of_array<T, First, Length>();
  else
    return initializers_at<T, First, Length, Rest - 1>();
}

template <class T, std::size_t First, std::size_t Length>
consteval std::size_t fields_from() {
  if constexpr (First >= Length)
    return 0;
  else
    return 1 + fields_from<T, First + initializers_at<T, First, Length>(), Length>();
}

/// How many of the first fields `Initializer` can initialize.
template <class T, class Initializer, std::size_t At = 0>
consteval std::size_t leading_fields() {
  if constexpr (At < most_braces) {
    if constexpr (converts_at<T, At, Initializer>) return leading_fields<T, Initializer, At + 1>();
  }
  return At;
}

/// The fields of an aggregate. A base class counts as one field, and so does a C array.
struct field_count {
  bool known = false;
  std::size_t fields = 0;
  std::size_t bases = 0;
  bool bases_are_empty = true;
  bool has_union = false;  ///< an unnamed one
};

template <class T, std::size_t... I>
consteval bool takes_unnamed_union(std::index_sequence<I...>) {
  return (converts_at<T, I, any_unnamed_union> || ...);
}

template <class T, std::size_t... I>
consteval bool takes_base_first(std::index_sequence<I...>) {
  return requires { T{any_base<T>{}, std::declval<copy_of<anything, I>>()...}; };
}

template <class T, std::size_t Fields>
consteval field_count count_parts() {
  field_count found{.known = true, .fields = Fields};
  if constexpr (braces<0>::template take<T>) {
    constexpr std::size_t bases = leading_fields<T, any_base<T>>();
    found.bases = bases_among<T, bases>();
    if constexpr (bases > 0) found.bases_are_empty = bases == leading_fields<T, any_empty_base<T>>();
    found.has_union = takes_unnamed_union<T>(std::make_index_sequence<Fields>{});
  } else {
    found.bases_are_empty = !takes_base_first<T>(std::make_index_sequence<Fields - 1>{});
  }
  return found;
}

template <class T>
consteval field_count count_values() {
  constexpr std::size_t length = largest_values<T, smallest_values<T>()>();
  if constexpr (length == 0)
    return {};
  else
    return count_parts<T, fields_from<T, 0, length>()>();
}

/// Whether T takes some initializers after `Fields` empty braces.
template <class T, std::size_t Fields, std::size_t More = 1>
consteval bool takes_more() {
  if constexpr ([]<std::size_t... I>(std::index_sequence<I...>) {
                  return braces<Fields>::template take<T, copy_of<anything, I>...>;
                }(std::make_index_sequence<More>{}))
    return true;
  else if constexpr (More == most_elements)
    return false;
  else
    return takes_more<T, Fields, More + 1>();
}

template <class T>
consteval field_count count_fields() {
  if constexpr (braces<0>::template take<T>) {
    constexpr std::size_t fields = largest_braces<T>();
    if constexpr (fields == most_braces)
      return {.known = true, .fields = fields};
    else if constexpr (takes_more<T, fields>())
      return count_values<T>();
    else if constexpr (braces<fields>::template take<T, any_reference>)
      return {};  // a reference member with an initializer
    else
      return count_parts<T, fields>();
  } else {
    return count_values<T>();
  }
}

/// The fields are counted by trying initializers. O(log fields) of them, each as long as the record; more for a type
/// with a field that no empty braces initialize.
template <class T>
inline constexpr field_count counted_fields = count_fields<T>();

/// The number of fields without base classes; a C array is one.
template <class T>
inline constexpr std::size_t arity = counted_fields<T>.fields - counted_fields<T>.bases;

}  // namespace cairn::inline v0_1::detail
