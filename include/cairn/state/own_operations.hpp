// SPDX-License-Identifier: MIT
// A type is a container, a tensor or a pointer because of its operations. Finds the class that declares these, and the aggregates that have
// more fields than these need.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/arity.hpp"
#include "cairn/state/brace_table.hpp"
#include "cairn/state/concepts.hpp"
#include "cairn/state/field_table.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/record.hpp"

namespace cairn::inline v0_1::detail {

template <class Class, class Result, bool Noexcept>
std::type_identity<Class> class_of_function(Result (Class::*)() noexcept(Noexcept));

template <class Class, class Result, class Argument, bool Noexcept>
std::type_identity<Class> class_of_unary(Result (Class::*)(Argument) noexcept(Noexcept));

#define CAIRN_OPERATION(find, name)                                                                              \
  if constexpr (requires { requires !std::is_same_v<decltype(detail::find(&T::name)), std::type_identity<T>>; }) \
    return decltype(detail::find(&T::name)){};                                                                   \
  else

/// The base class of T that declares one of the operations by which T has its category. T itself if there is none.
template <class T>
consteval auto find_operations_base() {
  if constexpr (random_type<T>) {
    CAIRN_OPERATION(class_of_unary, discard)
    CAIRN_OPERATION(class_of_function, reset)
    return std::type_identity<T>{};
  } else if constexpr (range_type<T> || tensor_type<T>) {
    CAIRN_OPERATION(class_of_const, size)
    CAIRN_OPERATION(class_of_const, begin)
    CAIRN_OPERATION(class_of_const, data)
    CAIRN_OPERATION(class_of_const, shape)
    CAIRN_OPERATION(class_of_const, sizes)
    CAIRN_OPERATION(class_of_const, data_handle)
    CAIRN_OPERATION(class_of_function, begin)
    CAIRN_OPERATION(class_of_function, data)
    return std::type_identity<T>{};
  } else {
    CAIRN_OPERATION(class_of_const, get)
    CAIRN_OPERATION(class_of_const, has_value)
    CAIRN_OPERATION(class_of_const, size)
    CAIRN_OPERATION(class_of_const, expired)
    CAIRN_OPERATION(class_of_const, is_lock_free)
    CAIRN_OPERATION(class_of_const, native)
    CAIRN_OPERATION(class_of_const, ok)
    return std::type_identity<T>{};
  }
}

#undef CAIRN_OPERATION

template <class T>
using operations_base = typename decltype(find_operations_base<T>())::type;

template <class T, class Base>
inline constexpr bool is_argument_of = false;
template <class T, template <class...> class Base, class... Arguments>
inline constexpr bool is_argument_of<T, Base<Arguments...>> = (std::is_same_v<T, Arguments> || ...);

/// Whether all that the operations of T work on is in T itself: it declares them, or has them from an empty base class of which it is an
/// argument (CRTP).
template <class T>
inline constexpr bool has_own_operations =
    std::is_same_v<operations_base<T>, T> ||
    (is_argument_of<T, operations_base<T>> && std::is_empty_v<operations_base<T>>);

/// Libraries whose containers have further members only for their own purposes.
consteval bool is_of_known_library(std::string_view name) {
  for (const std::string_view library : {"std::", "__gnu_", "boost::", "absl::", "folly::", "xt::"})
    if (name.starts_with(library)) return true;
  return false;
}

template <class T>
concept has_operations = tensor_type<T> || span_type<T> || bit_vector<T> || bitset_type<T> || path_type<T> ||
                         valarray_type<T> || sequence_type<T> || associative_type<T> || container_adaptor_type<T> ||
                         weak_pointer_type<T> || shared_pointer_type<T> || unique_pointer_type<T> || random_type<T>;

/// How many of the types are the one to which a function returns a reference, 1 at most. 0: it returns a value.
template <class Result, class... Fields>
consteval std::size_t count_referred() {
  if constexpr (std::is_lvalue_reference_v<Result>)
    return (std::is_same_v<std::remove_cvref_t<Result>, std::remove_cv_t<Fields>> || ...) ? 1 : 0;
  else
    return 0;
}

/// Whether the operations of T, which are its own, need fields of all these types, so that no field can be anything else.
template <class T, class... Fields>
consteval bool needs_fields(type_list<Fields...>) {
  constexpr std::size_t integers = (std::size_t{0} + ... + std::size_t{std::integral<Fields>});
  std::size_t others = sizeof...(Fields);
  if constexpr (tensor_type<T> && !mdspan_type<T>) {
    if constexpr (requires(T& t) { t.shape().begin(); })
      others -= count_referred<decltype(std::declval<T&>().shape()), Fields...>();
    else
      others -= count_referred<decltype(std::declval<T&>().sizes()), Fields...>();
    if constexpr (requires(T& t) { t.strides().begin(); })
      others -= count_referred<decltype(std::declval<T&>().strides()), Fields...>();
  } else if constexpr (span_type<T>) {
    if (sizeof...(Fields) == 2 && integers == 1 && (std::is_pointer_v<Fields> || ...)) others = 1;
  } else if constexpr (sequence_type<T>) {
    if (sizeof...(Fields) == 2 && integers == 1 && ((std::is_array_v<Fields> || is_std_array<Fields>) || ...))
      others = 1;
  }
  return others <= 1;
}
/// The fields cannot be read: all are in base classes, or the only one is a reference.
template <class T>
consteval bool needs_fields(no_address) {
  if constexpr (counted_fields<T>.known)
    return arity<T> == 0;
  else
    return braces<0>::template take<T, any_reference> && !requires { T{any_reference{}, {}}; };
}

/// An aggregate that declares the operations of a container, tensor or pointer itself, and has more fields than these need: it is a record, so
/// that no field is lost. What such operations need: one field that holds all; beside it, for a tensor the shape and strides to which functions
/// return references, for a sequence in a fixed array the number of its elements, and for a span its length.
template <class T>
consteval bool is_record_with_operations() {
  if constexpr (!std::is_aggregate_v<T> || !has_operations<T>)
    return false;
  else if constexpr (is_of_known_library(type_name_view<T>()) || !has_own_operations<T>)
    return false;
  else
    return !detail::needs_fields<T>(field_types<T>{});
}

template <class Value, class... Fields>
consteval std::uint64_t capacity_of_array(type_list<Fields...>) {
  const auto bytes_of = []<class Field>(std::type_identity<Field>) {
    return std::is_array_v<Field> || is_std_array<Field> ? sizeof(Field) : std::size_t{0};
  };
  const std::size_t bytes = (std::size_t{0} + ... + bytes_of(std::type_identity<Fields>{}));
  return bytes == 0 ? ~std::uint64_t{0} : bytes / sizeof(Value);
}
template <class Value>
consteval std::uint64_t capacity_of_array(no_address) {
  return ~std::uint64_t{0};
}

/// The elements for which a sequence has room if they are in an array in the object; 2^64 - 1 if they are not. Its `resize` may not check that.
template <class T>
consteval std::uint64_t array_capacity() {
  if constexpr (!sequence_type<T>) {
    return ~std::uint64_t{0};
  } else {
    using owner = operations_base<T>;
    if constexpr (!std::is_aggregate_v<owner> || is_of_known_library(type_name_view<owner>()))
      return ~std::uint64_t{0};
    else
      return detail::capacity_of_array<typename T::value_type>(field_types<owner>{});
  }
}

}  // namespace cairn::inline v0_1::detail
