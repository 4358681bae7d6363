// SPDX-License-Identifier: MIT
// Types that are saved as a copy of another type, because their memory cannot be read or written as an array.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/state/column_copy.hpp"
#include "cairn/state/random.hpp"

namespace cairn::inline v0_1::detail {

/// The number of bytes of a wide scalar that hold its value; the rest is padding, written as zero. With the options
/// -std=gnu++, 128-bit integers and __float128 are wide scalars, too.
template <class T>
inline constexpr std::size_t value_bytes =
    (std::is_same_v<T, long double> || wide_duration_type<T>) && std::numeric_limits<long double>::digits == 64
        ? 10
        : sizeof(T);

template <class T>
requires(category_of<T>() == category::wide_scalar)
struct copy_traits<T> {
  using type = std::array<std::byte, sizeof(T)>;
  static type take(const T& value) {
    type bytes{};
    std::memcpy(bytes.data(), &value, value_bytes<T>);
    return bytes;
  }
  static void put(T& value, const type& bytes) {
    std::memcpy(static_cast<void*>(&value), bytes.data(), value_bytes<T>);
  }
};

template <class T>
requires(category_of<T>() == category::wide_complex)
struct copy_traits<T> {
  using number = typename T::value_type;
  using type = std::array<std::array<std::byte, sizeof(number)>, 2>;
  static type take(const T& value) {
    return {copy_traits<number>::take(value.real()), copy_traits<number>::take(value.imag())};
  }
  static void put(T& value, const type& bytes) {
    number real{}, imaginary{};
    copy_traits<number>::put(real, bytes[0]);
    copy_traits<number>::put(imaginary, bytes[1]);
    value = T{real, imaginary};
  }
};

template <class T>
requires(category_of<T>() == category::path)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) { return value.string(); }
  static void put(T& value, const type& stored) { value.assign(stored); }
};

template <class T>
requires(category_of<T>() == category::atomic)
struct copy_traits<T> {
  using type = typename T::value_type;
  static type take(const T& value) { return value.load(); }
  static void put(T& value, const type& stored) { value.store(stored); }
};

/// A year, month, day or weekday as a number.
template <class Part>
std::int32_t calendar_number(const Part& part) {
  if constexpr (std::is_same_v<Part, std::chrono::year>)
    return static_cast<int>(part);
  else if constexpr (std::is_same_v<Part, std::chrono::weekday>)
    return static_cast<std::int32_t>(part.c_encoding());
  else
    return static_cast<std::int32_t>(static_cast<unsigned>(part));
}

template <class Part>
Part calendar_part(std::int32_t number) {
  return Part{static_cast<std::conditional_t<std::is_same_v<Part, std::chrono::year>, int, unsigned>>(number)};
}

/// errc::mismatch: no date is made of the stored numbers.
void check_date(bool same);

/// Dates that do not exist are kept, too.
template <class T>
requires(category_of<T>() == category::calendar)
struct copy_traits<T> {
  static constexpr bool has_year = requires(const T& date) { date.year(); };
  static constexpr bool has_day = requires(const T& date) { date.day(); };
  using type =
      std::conditional_t<calendar_number_type<T>, std::int32_t,
                         std::array<std::int32_t, has_year && has_day ? 3 : 2>>;  // in the order of the type's name

  static type take(const T& value) {
    if constexpr (calendar_number_type<T>)
      return calendar_number(value);
    else if constexpr (has_year && has_day)
      return {calendar_number(value.year()), calendar_number(value.month()), calendar_number(value.day())};
    else if constexpr (has_year)
      return {calendar_number(value.year()), calendar_number(value.month())};
    else
      return {calendar_number(value.month()), calendar_number(value.day())};
  }
  static void put(T& value, const type& stored) {
    const T made = make(value, stored);
    check_date(take(made) == stored);
    value = made;
  }

 private:
  static T make([[maybe_unused]] const T& like, const type& stored) {
    const auto part = []<class Part>(const Part&, std::int32_t number) { return calendar_part<Part>(number); };
    if constexpr (calendar_number_type<T>)
      return calendar_part<T>(stored);
    else if constexpr (has_year && has_day)
      return T{part(like.year(), stored[0]), part(like.month(), stored[1]), part(like.day(), stored[2])};
    else if constexpr (has_year)
      return T{part(like.year(), stored[0]), part(like.month(), stored[1])};
    else
      return T{part(like.month(), stored[0]), part(like.day(), stored[1])};
  }
};

template <class T>
requires(category_of<T>() == category::random && !word_engine<T>)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) {
    T fresh;
    return detail::write_random(&value, &fresh, random_operations_of<T>);
  }
  static void put(T& value, const type& stored) {
    T fresh;
    detail::read_random(stored, &fresh, random_operations_of<T>);
    value = std::move(fresh);
  }
};

template <class T>
requires(category_of<T>() == category::random && word_engine<T>)
struct copy_traits<T> {
  using type = engine_words<T>;
  static type take(const T& value) {
    type words;
    std::memcpy(words.data(), &value, sizeof value);
    if (!detail::can_draw<T>(words.data())) fail_dead_engine();
    return words;
  }
  static void put(T& value, const type& words) {
    try_put(value, words);
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
  }
  static void try_put(const T&, const type& words) {
    if (!detail::can_draw<T>(words.data())) fail_random();
  }
};

/// errc::mismatch: a bitset of `size` bits cannot take `stored` bits.
void check_bits(std::size_t size, std::size_t stored);

template <class T>
requires(category_of<T>() == category::bits)
struct copy_traits<T> {
  using type = bool_array;
  static type take(const T& value) {
    bool_array bools;
    bools.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) bools.data()[i] = value[i];
    return bools;
  }
  static void put(T& value, bool_array& stored) {
    if constexpr (requires { value.resize(1); }) value.resize(stored.size());
    check_bits(value.size(), stored.size());
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = stored.data()[i];
  }
};

template <class T>
requires(has_copy_adapter<T>)
struct copy_traits<T> {
  using type = std::remove_cvref_t<decltype(adapter<T>::get(std::declval<const T&>()))>;
  static type take(const T& value) { return adapter<T>::get(value); }
  static void put(T& value, type& stored) { adapter<T>::set(value, std::move(stored)); }
};

}  // namespace cairn::inline v0_1::detail
