// SPDX-License-Identifier: MIT
// Assigns each type to exactly one category, without the headers of the containers. A class has one by its operations
// if it is of a known library, or if the user says so: members that its operations do not show would be lost.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/core/dtype.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
concept small_float_type = std::same_as<T, float16> || std::same_as<T, bfloat16> || std::same_as<T, float8_e4m3> ||
                           std::same_as<T, float8_e5m2>;

template <class T>
concept scalar_type = (std::is_arithmetic_v<T> && !std::same_as<T, long double> && sizeof(T) <= 8) ||
                      std::is_enum_v<T> || small_float_type<T>;

template <class T>
concept complex_type =
    requires(const T& z) {
      typename T::value_type;
      { z.real() } -> std::convertible_to<typename T::value_type>;
      { z.imag() } -> std::convertible_to<typename T::value_type>;
    } && std::is_floating_point_v<typename T::value_type> && scalar_type<typename T::value_type> &&
    sizeof(T) == 2 * sizeof(typename T::value_type);

/// The durations and time points of std::chrono and the like.
template <class T>
concept chrono_type = (
    requires(const T& t) {
      typename T::period;
      t.count();
    } || requires(const T& t) {
      typename T::clock;
      t.time_since_epoch();
    }) && sizeof(T) == sizeof(typename T::rep);

template <class T>
concept duration_type = chrono_type<T> && scalar_type<typename T::rep>;

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

/// A std::variant, whose header is not included for programs that have none.
template <class T>
concept variant_type = requires(const T& t) { t.valueless_by_exception(); } && type_name_view<T>().starts_with("std::");
template <class... Types, template <class...> class Variant>
type_list<Types...> types_in(const Variant<Types...>&);
template <variant_type T>
using alternatives_of = decltype(detail::types_in(std::declval<const T&>()));

template <class T>
inline constexpr bool is_per_rank = false;
template <class T, class Redistribute>
inline constexpr bool is_per_rank<per_rank<T, Redistribute>> = true;

template <class T>
concept tuple_type = requires { std::tuple_size<T>::value; };

template <class T>
concept has_shape = requires(T& t) { t.shape().begin(); } || requires(T& t) { t.sizes().begin(); };

template <class T>
concept mdspan_type = requires(T& t) {
  t.data_handle();
  t.extents();
  { t.stride(0) } -> std::convertible_to<std::size_t>;
  { t.rank() } -> std::convertible_to<std::size_t>;
};

template <class T>
concept tensor_type = (requires(T& t) { *t.data(); } && has_shape<T>) || mdspan_type<T>;

template <class T>
concept range_type = requires(T& t) {
  typename T::value_type;
  *t.begin();
  t.end();
};

template <class T>
concept span_type = range_type<T> && requires(T t) {
  typename T::element_type;
  t.data();
  t.subspan(0);
};

template <class T>
concept bit_vector = range_type<T> && std::same_as<typename T::value_type, bool> && requires(T& t) { t.flip(); };

template <class T>
concept bitset_type = requires(T& t) {
  t.flip(0);
  t.to_ulong();
  t.size();
};

template <class T>
concept valarray_type = requires(T& t) {
  typename T::value_type;
  t.cshift(1);
  t.resize(1);
  t.size();
};

template <class T>
concept path_type = requires(const T& t) {
  typename T::string_type;
  t.native();
  t.root_directory();
};

template <class T>
concept sequence_type = range_type<T> && requires(T& t) { t.resize(1); };

template <class T>
concept associative_type = range_type<T> && requires(T& t) {
  typename T::key_type;
  t.clear();
  t.size();
};

/// An associative container with all operations that a save or a load may call.
template <class T>
concept has_key_operations = std::is_default_constructible_v<T> &&
                             requires(T& t, const T& c, const typename T::key_type& key) {
  c.begin() == c.end();
  c.size();
  t.clear();
  t.erase(t.find(key));
  t.equal_range(key);
} && (requires(const T& c) {
  typename T::key_compare;
  c.key_comp();
} || requires(const T& c) {
  typename T::hasher;
  typename T::key_equal;
  c.hash_function();
  c.key_eq();
});

template <class T>
concept container_adaptor_type = requires(T& t) {
  typename T::container_type;
  t.pop();
  t.empty();
} && !range_type<T>;

template <class T>
concept optional_type = requires(T& t) {
  typename T::value_type;
  { t.has_value() } -> std::convertible_to<bool>;
  *t;
  t.reset();
};

template <class T>
concept weak_pointer_type = requires(const T& t) {
  typename T::element_type;
  t.lock();
  t.expired();
};

template <class T>
concept shared_pointer_type = requires(const T& t) {
  typename T::element_type;
  typename T::weak_type;
  t.use_count();
};

template <class T>
concept unique_pointer_type = requires(T& t) {
  typename T::element_type;
  typename T::deleter_type;
  t.release();
};

template <class T>
concept atomic_type = requires(T& t) {
  typename T::value_type;
  t.is_lock_free();
  t.store(t.load());
};

template <class T>
concept streamed = requires(T& t, std::istream& in, std::ostream& out) {
  in >> t;
  out << t;
};

/// piecewise_constant_distribution and piecewise_linear_distribution. Their text cannot be read back exactly: it holds
/// normalised densities, and reading normalises them again.
template <class T>
concept piecewise_type = requires(const T& t) {
  t.intervals();
  t.densities();
};

template <class T>
concept random_engine_type = requires(T& t) {
  typename T::result_type;
  t.seed();
  t.discard(1);
};

template <class T>
concept distribution_type = requires(T& t) {
  typename T::param_type;
  t.reset();
  t.param();
};

template <class T>
concept random_type = streamed<T> && !piecewise_type<T> && (random_engine_type<T> || distribution_type<T>);

template <class T>
inline constexpr bool is_named_references = std::is_same_v<T, state> || std::is_same_v<T, const_state>;

enum class category {
  adapted,     // cairn::adapter<T>
  skipped,     // cairn::skip<T>: not state
  references,  // cairn::state: named references to objects
  listed,      // a class with a field list or a list of base classes
  per_rank,
  scalar,       // one element: numbers, enums, std::byte, small floats
  wide_scalar,  // long double: has padding, saved as bytes
  complex,
  duration,     // chrono durations and time points: one number
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

/// Whether T has, as a public base, an engine of the standard library or Boost, whose text it then inherits.
template <class T>
concept has_library_engine =
    requires { typename T::mersenne_twister_engine; } || requires { typename T::linear_congruential_engine; } ||
    requires { typename T::subtract_with_carry_engine; } || requires { typename T::discard_block_engine; } ||
    requires { typename T::independent_bits_engine; } || requires { typename T::shuffle_order_engine; };

/// Whether the operations of T show all that is to be saved: it is of a known library, whose classes have further
/// members only for their own purposes; or a random engine of the user's own, whose text has its state; or the user
/// says so.
template <class T>
consteval bool is_shown_by_operations() {
  if constexpr (!is_container<T>) {
    for (const std::string_view library : {"std::", "__gnu_", "boost::", "absl::", "folly::", "xt::"})
      if (type_name_view<T>().starts_with(library)) return true;
    return random_engine_type<T> && random_type<T> && !has_library_engine<T>;
  }
  return true;
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
    return category::complex;
  else if constexpr (duration_type<T>)
    return category::duration;
  else if constexpr (variant_type<T>)
    return category::variant;
  else if constexpr (is_shown_by_operations<T>() && category_of_operations<T>() != category::unsupported)
    return category_of_operations<T>();
  else if constexpr (has_bridge<T>)
    return category::bridged;
  else
    return std::is_aggregate_v<T> && !std::is_polymorphic_v<T> && !tuple_type<T> ? category::record
                                                                                 : category::unsupported;
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
