// SPDX-License-Identifier: MIT
// Concepts that recognise containers and other types by their operations, so that no header of a container is needed.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <tuple>
#include <type_traits>
#include <variant>

#include "cairn/core/float_types.hpp"
#include "cairn/state/per_rank.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
concept small_float_type = std::same_as<T, float16> || std::same_as<T, bfloat16> || std::same_as<T, float8_e4m3> ||
                           std::same_as<T, float8_e5m2>;

template <class T>
concept scalar_type = (std::is_arithmetic_v<T> && !std::same_as<T, long double> && sizeof(T) <= 8) ||
                      std::is_enum_v<T> || small_float_type<T>;

template <class T>
concept complex_type = requires(const T& z) {
  typename T::value_type;
  { z.real() } -> std::convertible_to<typename T::value_type>;
  { z.imag() } -> std::convertible_to<typename T::value_type>;
} && std::is_floating_point_v<typename T::value_type> && sizeof(T) == 2 * sizeof(typename T::value_type);

template <class T>
concept duration_type = requires(T t) {
  typename T::rep;
  typename T::period;
  t.count();
} && scalar_type<typename T::rep> && sizeof(T) == sizeof(typename T::rep);

template <class T>
concept time_point_type = requires(T t) {
  typename T::clock;
  typename T::duration;
  { t.time_since_epoch() } -> std::same_as<typename T::duration>;
} && duration_type<typename T::duration> && sizeof(T) == sizeof(typename T::duration);

/// A duration or time point whose number is a long double.
template <class T>
concept wide_duration_type = (
    requires(T t) {
      typename T::period;
      t.count();
    } || requires(T t) {
      typename T::clock;
      t.time_since_epoch();
    }) && std::same_as<typename T::rep, long double> && sizeof(T) == sizeof(long double);

/// std::chrono::year_month_day.
template <class T>
concept calendar_type = requires(const T& date) {
  date.ok();
  T{date.year(), date.month(), date.day()};
} && std::is_trivially_copyable_v<T> && !std::is_aggregate_v<T>;

/// The years, months, days and weekdays of std::chrono.
template <class T>
concept calendar_number_type = requires(T& part) {
  { part.ok() } -> std::same_as<bool>;
  ++part;
} && std::is_trivially_copyable_v<T> && !std::is_aggregate_v<T> && sizeof(T) <= 2 && (requires(const T& part) {
  part.is_leap();
  static_cast<int>(part);
} || requires(const T& part) { part.c_encoding(); } || (requires(const T& part) {
  static_cast<unsigned>(part);
  part - part;
}));

/// Two of year, month and day: std::chrono::year_month and month_day.
template <class T>
concept calendar_pair_type = requires(const T& date) {
  { date.ok() } -> std::same_as<bool>;
  date.month();
} && std::is_trivially_copyable_v<T> && !std::is_aggregate_v<T> && (requires(const T& date) { T{date.year(), date.month()};
} || requires(const T& date) { T{date.month(), date.day()}; });

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

/// Eigen's Map, Ref and Block: they have `resize`, but cannot be resized, and their elements may be apart.
template <class T>
concept strided_view = requires(T& t) { t.innerStride(); } && !std::is_default_constructible_v<T>;

template <class T>
concept sequence_type = range_type<T> && requires(T& t) { t.resize(1); } && !strided_view<T>;

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
} && !range_type<T>;

template <class Class, class Result, bool Noexcept>
std::type_identity<Class> class_of_const(Result (Class::*)() const noexcept(Noexcept));

/// An aggregate that declares these operations itself is a record, since it may have further members. One that inherits them is not.
template <class T>
concept optional_type = requires(T& t) {
  typename T::value_type;
  { t.has_value() } -> std::convertible_to<bool>;
  *t;
  t.reset();
} && !(std::is_aggregate_v<T> && requires {
                          requires std::same_as<decltype(detail::class_of_const(&T::has_value)), std::type_identity<T>>;
                        });

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
concept atomic_type =
    requires(T& t) {
      typename T::value_type;
      t.is_lock_free();
      t.store(t.load());
    } && !(std::is_aggregate_v<T> && requires {
      requires std::same_as<decltype(detail::class_of_const(&T::is_lock_free)), std::type_identity<T>>;
    });

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

}  // namespace cairn::inline v0_1::detail
