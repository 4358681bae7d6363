// Sorts every type into exactly one category by what it can do, so that no container's header has to be
// included here.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "cairn/core/dtype.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/field_list.hpp"
#include "cairn/state/per_rank.hpp"

namespace cairn::detail {

enum class category {
  adapted,            // cairn::adapter<T>
  listed,             // a class with a field list
  per_rank,           //
  scalar,             // one element: numbers, enums, std::byte, small floats
  wide_scalar,        // long double: has padding, saved as bytes
  complex,            //
  duration,           // chrono durations and time points: one number
  calendar,           // std::chrono::year_month_day and its parts' kin: saved as days
  fixed_array,        // C arrays and std::array
  tuple,              // tuple and pair
  record,             // plain aggregates
  tensor,             // a pointer, a shape, perhaps strides
  span,               //
  bits,               // bitset and vector<bool>
  valarray,           //
  path,               // filesystem::path
  sequence,           // vector, string, deque, list, forward_list, and their likes
  map,                //
  set,                //
  container_adaptor,  // stack, queue, priority_queue
  optional,           //
  variant,            //
  unique_pointer,     //
  shared_pointer,     //
  weak_pointer,       //
  atomic,             //
  random,             // engines and distributions: saved as the text that they stream
  unsupported
};

template <class T>
concept small_float_type = std::same_as<T, float16> || std::same_as<T, bfloat16> ||
    std::same_as<T, float8_e4m3> || std::same_as<T, float8_e5m2>;

template <class T>
concept scalar_type = (std::is_arithmetic_v<T> && !std::same_as<T, long double> && sizeof(T) <= 8) ||
                      std::is_enum_v<T> || small_float_type<T>;

template <class T>
concept complex_type = requires(const T& z) {
  typename T::value_type;
  { z.real() } -> std::convertible_to<typename T::value_type>;
  { z.imag() } -> std::convertible_to<typename T::value_type>;
}
&&std::is_floating_point_v<typename T::value_type> && sizeof(T) == 2 * sizeof(typename T::value_type);

template <class T>
concept duration_type = requires(T t) {
  typename T::rep;
  typename T::period;
  t.count();
}
&&scalar_type<typename T::rep> && sizeof(T) == sizeof(typename T::rep);

template <class T>
concept time_point_type = requires(T t) {
  typename T::clock;
  typename T::duration;
  { t.time_since_epoch() } -> std::same_as<typename T::duration>;
}
&&duration_type<typename T::duration> && sizeof(T) == sizeof(typename T::duration);

template <class T>
concept calendar_type = requires(const T& date) {
  date.year();
  date.month();
  date.day();
  date.ok();
}
&&std::is_trivially_copyable_v<T>;

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

template <class T>
inline constexpr bool is_std_variant = false;
template <class... T>
inline constexpr bool is_std_variant<std::variant<T...>> = true;

template <class T>
inline constexpr bool is_per_rank = false;
template <class T, class Redistribute>
inline constexpr bool is_per_rank<per_rank<T, Redistribute>> = true;

template <class T>
concept tuple_type = requires {
  std::tuple_size<T>::value;
};

template <class T>
concept has_shape = requires(T& t) {
  t.shape().begin();
}
|| requires(T& t) { t.sizes().begin(); };

template <class T>
concept mdspan_type = requires(T& t) {
  t.data_handle();
  t.extents();
  { t.stride(0) } -> std::convertible_to<std::size_t>;
  { t.rank() } -> std::convertible_to<std::size_t>;
};

template <class T>
concept tensor_type = (requires(T & t) { *t.data(); } && has_shape<T>) || mdspan_type<T>;

template <class T>
concept range_type = requires(T& t) {
  typename T::value_type;
  t.begin();
  t.end();
};

template <class T>
concept span_type = range_type<T> && requires(T t) {
  typename T::element_type;
  t.data();
  t.subspan(0);
};

template <class T>
concept bit_vector = range_type<T> && std::same_as<typename T::value_type, bool> && requires(T& t) {
  t.flip();
};

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
concept sequence_type = range_type<T> && requires(T& t) {
  t.resize(1);
};

template <class T>
concept associative_type = range_type<T> && requires(T& t) {
  typename T::key_type;
  t.clear();
  t.size();
};

template <class T>
concept container_adaptor_type = requires(T& t) {
  typename T::container_type;
  t.pop();
  t.empty();
}
&&!range_type<T>;

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

template <class T>
concept random_type = streamed<T> &&(
    requires(T& t) {
      typename T::result_type;
      t.seed();
      t.discard(1);
    } ||
    requires(T & t) {
      typename T::param_type;
      t.reset();
      t.param();
    });

/// The category of T, which is neither const nor a reference. The order decides where a type could be two
/// things.
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
  else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_union_v<T> ||
                     !std::is_class_v<T>)
    return category::unsupported;
  else if constexpr (has_field_list<T>)
    return category::listed;
  else if constexpr (complex_type<T>)
    return category::complex;
  else if constexpr (duration_type<T> || time_point_type<T>)
    return category::duration;
  else if constexpr (calendar_type<T>)
    return category::calendar;
  else if constexpr (is_std_variant<T>)
    return category::variant;
  else if constexpr (tuple_type<T>)
    return category::tuple;
  else if constexpr (tensor_type<T>)
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
  else if constexpr (associative_type<T>) {
    if constexpr (requires { typename T::mapped_type; })
      return category::map;
    else
      return category::set;
  } else if constexpr (container_adaptor_type<T>)
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
  else if constexpr (std::is_aggregate_v<T> && !std::is_polymorphic_v<T>)
    return category::record;
  else
    return category::unsupported;
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
    // Characters are text, whatever the sign of char is here.
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

}  // namespace cairn::detail
