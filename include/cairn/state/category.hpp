// SPDX-License-Identifier: MIT
// Assigns each type to exactly one category. A class has one by its operations if it is of a known library, or if the
// user says so: members that its operations do not show would be lost.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "cairn/core/dtype.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/state/concepts.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/skip.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
inline constexpr bool is_named_references = std::is_same_v<T, state> || std::is_same_v<T, const_state>;

enum class category {
  adapted,     // cairn::adapter<T>
  skipped,     // cairn::skip<T>: not state
  references,  // cairn::state: named references to objects
  listed,      // a class with a field list or a list of base classes
  per_rank,
  scalar,       // one element: numbers, enums, std::byte, small floats
  wide_scalar,  // long double, and durations of it: has padding, saved as bytes
  wide_complex,
  complex,
  duration,     // chrono durations and time points: one number
  calendar,     // std::chrono::year_month_day, and parts of it: one to three numbers
  fixed_array,  // C arrays and std::array
  tuple,        // tuple and pair
  record,       // plain aggregates
  bridged,      // a class with the functions of another serialization library
  tensor,       // a pointer, a shape, and strides where not packed
  span,
  bits,  // bitset and vector<bool>
  valarray,
  path,      // std::filesystem::path
  sequence,  // vector, string, deque, list, forward_list and similar
  map,
  set,
  container_adaptor,  // stack, queue, priority_queue
  optional,
  variant,
  unique_pointer,
  shared_pointer,
  weak_pointer,
  atomic,
  random,  // engines and distributions
  unsupported
};

/// Libraries whose classes have further members only for their own purposes.
consteval bool is_of_known_library(std::string_view name) {
  for (const std::string_view library : {"std::", "__gnu_", "boost::", "absl::", "folly::", "xt::"})
    if (name.starts_with(library)) return true;
  return false;
}

template <class Class, class Result, bool Noexcept>
std::type_identity<Class> declares(Result (Class::*)() const noexcept(Noexcept));
template <class Class, class Result, bool Noexcept>
std::type_identity<Class> declares(Result (Class::*)() noexcept(Noexcept));
template <class Class, class Result, class Argument, bool Noexcept>
std::type_identity<Class> declares(Result (Class::*)(Argument) noexcept(Noexcept));

/// The class that declares one of these operations of T: T itself, or a base class. T if that cannot be told.
template <class T>
consteval auto find_operations_base() {
  if constexpr (requires { detail::declares(&T::size); })
    return decltype(detail::declares(&T::size)){};
  else if constexpr (requires { detail::declares(&T::get); })
    return decltype(detail::declares(&T::get)){};
  else if constexpr (requires { detail::declares(&T::has_value); })
    return decltype(detail::declares(&T::has_value)){};
  else if constexpr (requires { detail::declares(&T::discard); })
    return decltype(detail::declares(&T::discard)){};
  else if constexpr (requires { detail::declares(&T::native); })
    return decltype(detail::declares(&T::native)){};
  else if constexpr (requires { detail::declares(&T::reset); })
    return decltype(detail::declares(&T::reset)){};
  else
    return std::type_identity<T>{};
}

/// Larger than Base, unless Base has padding at its end in which a derived class puts members.
template <class Base>
struct with_one_more : Base {
  char more;
};

/// Whether T has, as a public base, an engine of the standard library or Boost, whose text it then inherits.
template <class T>
concept has_library_engine =
    requires { typename T::mersenne_twister_engine; } || requires { typename T::linear_congruential_engine; } ||
    requires { typename T::subtract_with_carry_engine; } || requires { typename T::discard_block_engine; } ||
    requires { typename T::independent_bits_engine; } || requires { typename T::shuffle_order_engine; };

/// Whether the operations of T show all that is to be saved: it is of a known library; or the user says so; or it is as
/// large as a base class of a known library, which has no room for more members; or it is a random engine of its own,
/// whose text has its state.
template <class T>
consteval bool is_shown_by_operations() {
  if constexpr (is_container<T> || is_of_known_library(type_name_view<T>())) {
    return true;
  } else {
    using base = typename decltype(find_operations_base<T>())::type;
    if constexpr (std::same_as<base, T>)
      return random_engine_type<T> && random_type<T> && !has_library_engine<T>;
    else if constexpr (is_of_known_library(type_name_view<base>()))
      return sizeof(T) == sizeof(base) && sizeof(with_one_more<base>) != sizeof(base);
    else
      return false;
  }
}

/// The category that the operations of a class show. unsupported: none.
template <class T>
consteval category category_of_operations() {
  if constexpr (tensor_type<T>)
    return category::tensor;
  else if constexpr (span_type<T>)
    return category::span;
  else if constexpr (bit_vector<T> || bitset_type<T>)
    return category::bits;
  else if constexpr (path_type<T>)
    return category::path;
  else if constexpr (valarray_type<T>)
    return category::valarray;
  else if constexpr (sequence_type<T>)
    return category::sequence;
  else if constexpr (associative_type<T>)
    return requires { typename T::mapped_type; } ? category::map : category::set;
  else if constexpr (container_adaptor_type<T>)
    return category::container_adaptor;
  else if constexpr (weak_pointer_type<T>)
    return category::weak_pointer;
  else if constexpr (shared_pointer_type<T>)
    return category::shared_pointer;
  else if constexpr (unique_pointer_type<T>)
    return category::unique_pointer;
  else if constexpr (optional_type<T>)
    return category::optional;
  else if constexpr (atomic_type<T>)
    return category::atomic;
  else if constexpr (random_type<T>)
    return category::random;
  else if constexpr (tuple_type<T>)
    return category::tuple;
  else
    return category::unsupported;
}

/// The category of T, which is neither const nor a reference. If several fit, the first in this function is taken.
template <class T>
consteval category category_of() {
  if constexpr (has_adapter<T>)
    return category::adapted;
  else if constexpr (is_per_rank<T>)
    return category::per_rank;
  else if constexpr (scalar_type<T>)
    return category::scalar;
  else if constexpr (std::is_arithmetic_v<T>)
    return category::wide_scalar;
  else if constexpr (std::is_bounded_array_v<T> || is_std_array<T>)
    return category::fixed_array;
  else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_union_v<T> || !std::is_class_v<T>)
    return category::unsupported;
  else if constexpr (is_skip<T>)
    return category::skipped;
  else if constexpr (is_named_references<T>)
    return category::references;
  else if constexpr (use_bridge<T>)
    return category::bridged;
  else if constexpr (has_field_list<T> || has_base_list<T>)
    return category::listed;
  else if constexpr (complex_type<T>)
    return std::same_as<typename T::value_type, long double> ? category::wide_complex : category::complex;
  else if constexpr (duration_type<T>)
    return category::duration;
  else if constexpr (wide_duration_type<T>)
    return category::wide_scalar;
  else if constexpr (calendar_type<T>)
    return category::calendar;
  else if constexpr (is_std_variant<T>)
    return category::variant;
  else if constexpr (tuple_type<T> && (std::is_aggregate_v<T> || is_shown_by_operations<T>()))
    return category::tuple;
  else if constexpr (is_shown_by_operations<T>() && category_of_operations<T>() != category::unsupported)
    return category_of_operations<T>();
  else if constexpr (has_bridge<T>)
    return category::bridged;
  else
    return std::is_aggregate_v<T> && !std::is_polymorphic_v<T> ? category::record : category::unsupported;
}

/// The dtype of a scalar's elements.
template <scalar_type T>
consteval dtype dtype_of() {
  if constexpr (std::is_enum_v<T>) {
    if constexpr (std::same_as<T, std::byte>)
      return dtype::u8;
    else
      return dtype_of<std::underlying_type_t<T>>();
  } else if constexpr (std::same_as<T, bool>)
    return dtype::boolean;
  else if constexpr (std::same_as<T, float16>)
    return dtype::f16;
  else if constexpr (std::same_as<T, bfloat16>)
    return dtype::bf16;
  else if constexpr (std::same_as<T, float8_e4m3>)
    return dtype::f8_e4m3;
  else if constexpr (std::same_as<T, float8_e5m2>)
    return dtype::f8_e5m2;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? dtype::f32 : dtype::f64;
  else {
    // char is unsigned in a checkpoint on every machine.
    constexpr bool is_signed = std::is_signed_v<T> && !std::same_as<T, char> && !std::same_as<T, wchar_t>;
    switch (sizeof(T)) {
      case 1:
        return is_signed ? dtype::i8 : dtype::u8;
      case 2:
        return is_signed ? dtype::i16 : dtype::u16;
      case 4:
        return is_signed ? dtype::i32 : dtype::u32;
      default:
        return is_signed ? dtype::i64 : dtype::u64;
    }
  }
}

}  // namespace cairn::inline v0_1::detail
