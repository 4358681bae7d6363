// Types that are saved as a copy of another type, because their memory cannot be read or written as an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/core/config.hpp"
#include "cairn/state/column_copy.hpp"

namespace cairn::detail {

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
  using type = std::array<std::int32_t, 3>;  // year, month, day; dates that do not exist are kept, too
  static type take(const T& value) {
    return {static_cast<int>(value.year()), static_cast<std::int32_t>(static_cast<unsigned>(value.month())),
            static_cast<std::int32_t>(static_cast<unsigned>(value.day()))};
  }
  static void put(T& value, const type& stored) {
    const auto part = []<class Part, class Number>(const Part&, Number number) { return Part{number}; };
    value = T{part(value.year(), stored[0]), part(value.month(), static_cast<unsigned>(stored[1])),
              part(value.day(), static_cast<unsigned>(stored[2]))};
  }
};

/// The text that an engine or distribution streams, in the classic locale and with all digits.
CAIRN_INLINE std::string streamed_text(const void* object, void (*write)(std::ostream& to, const void* object));
/// Reads such a text. errc::corrupt: it cannot be read.
CAIRN_INLINE void read_streamed(const std::string& from, void* object, void (*read)(std::istream& from, void* object));

template <class T>
requires(category_of<T>() == category::random)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) {
    return streamed_text(&value, [](std::ostream& to, const void* object) { to << *static_cast<const T*>(object); });
  }
  static void put(T& value, const type& stored) {
    T fresh;
    read_streamed(stored, &fresh, [](std::istream& from, void* object) { from >> *static_cast<T*>(object); });
    value = std::move(fresh);
  }
};

/// errc::mismatch: a bitset of `size` bits cannot take `stored` bits.
CAIRN_INLINE void check_bits(std::size_t size, std::size_t stored);

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

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/copies.ipp"  // IWYU pragma: keep
#endif
