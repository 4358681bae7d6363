// Single values that are saved as a copy of another type: what has no memory of its own to read from or to write into.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <locale>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/columns.hpp"

namespace cairn::detail {

// ------------------------------------------------------------------------------------

template <class T>
requires(category_of<T>() == category::wide_scalar)
struct copy_traits<T> {
  using type = std::array<std::byte, sizeof(T)>;
  static constexpr std::size_t value_bytes = std::same_as<T, long double> && sizeof(T) == 16 ? 10 : sizeof(T);
  static type take(const T& value) {
    type bytes{};  // the padding of an x87 number is zero in the file
    std::memcpy(bytes.data(), &value, value_bytes);
    return bytes;
  }
  static void put(T& value, const type& bytes) { std::memcpy(&value, bytes.data(), value_bytes); }
};

template <class T>
requires(category_of<T>() == category::path)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) { return value.string(); }
  static void put(T& value, type stored) { value = std::move(stored); }
};

template <class T>
requires(category_of<T>() == category::atomic)
struct copy_traits<T> {
  using type = typename T::value_type;
  static type take(const T& value) { return value.load(); }
  static void put(T& value, const type& stored) { value.store(stored); }
};

template <class T>
requires(category_of<T>() == category::calendar)
struct copy_traits<T> {
  using type = std::array<std::int32_t, 3>;  // year, month, day: also of dates that do not exist
  static type take(const T& value) {
    return {static_cast<int>(value.year()), static_cast<std::int32_t>(static_cast<unsigned>(value.month())),
            static_cast<std::int32_t>(static_cast<unsigned>(value.day()))};
  }
  static void put(T& value, const type& stored) {
    value = T{std::chrono::year{stored[0]}, std::chrono::month{static_cast<unsigned>(stored[1])},
              std::chrono::day{static_cast<unsigned>(stored[2])}};
  }
};

template <class T>
requires(category_of<T>() == category::random)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(17);
    text << value;
    return std::move(text).str();
  }
  static void put(T& value, const type& stored) {
    std::istringstream text(stored);
    text.imbue(std::locale::classic());
    T fresh;
    if (!(text >> fresh)) fail(errc::corrupt, {"the text of a random engine or distribution cannot be read back"});
    value = std::move(fresh);
  }
};

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
    if (value.size() != stored.size())
      fail(errc::mismatch,
           {"a bitset of ", std::to_string(value.size()), " bits cannot take ", std::to_string(stored.size())});
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

}  // namespace cairn::detail
