// SPDX-License-Identifier: MIT
// Concepts that recognise containers and other types by their operations, so that no header of a container is needed.
#pragma once

#include <array>
#include <chrono>
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

/// A duration or time point whose number is a long double.
template <class T>
concept wide_duration_type = chrono_type<T> && std::same_as<typename T::rep, long double>;

template <class T, class... Types>
concept one_of_types = (std::same_as<T, Types> || ...);

template <class T>
concept calendar_number_type =
    one_of_types<T, std::chrono::year, std::chrono::month, std::chrono::day, std::chrono::weekday>;

template <class T>
concept calendar_type = calendar_number_type<T> ||
                        one_of_types<T, std::chrono::year_month, std::chrono::month_day, std::chrono::year_month_day>;

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

}  // namespace cairn::inline v0_1::detail
