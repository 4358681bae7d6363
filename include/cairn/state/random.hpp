// SPDX-License-Identifier: MIT
// How random engines and distributions are stored: an engine of libstdc++ as the words of its object, the others as the
// text that they stream. A file may be hostile: what it has is taken into an engine of libstdc++ only if each draw
// reads and writes only the object's own memory, and if the words are not those that give one number for ever. Of texts
// of other libraries, their own operator >> decides.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

#if defined(__GLIBCXX__)
inline constexpr bool is_gnu_library = true;
#else
inline constexpr bool is_gnu_library = false;
#endif

template <class T>
concept gnu_engine = is_gnu_library && random_engine_type<T> && type_name_view<T>().starts_with("std::");

/// The members of an engine, in the order of libstdc++, and whether a file may give an engine these values. Of other
/// engines neither is known.
template <class T>
struct engine_members {
  static constexpr bool are_known = false;
  alignas(T) std::byte all[sizeof(T)];
  [[nodiscard]] bool can_draw() const noexcept { return true; }
};

template <gnu_engine T>
requires requires { T::modulus; }
struct engine_members<T> {
  static constexpr bool are_known = true;
  typename T::result_type number;
  [[nodiscard]] bool can_draw() const noexcept { return (T::min)() <= number && number <= (T::max)(); }
};

template <gnu_engine T>
requires requires { T::mask_bits; }
struct engine_members<T> {
  static constexpr bool are_known = true;
  typename T::result_type words[T::state_size];
  std::size_t position;
  [[nodiscard]] bool can_draw() const noexcept {
    bool varies = words[0] >> T::mask_bits != 0;  // its last bits are not used
    for (std::size_t i = 1; i < T::state_size && !varies; ++i) varies = words[i] != 0;
    typename T::result_type all = 0;  // their bits: the maximum is a power of 2, minus 1
    for (const auto word : words) all |= word;
    return varies && all <= (T::max)() && position <= T::state_size;
  }
};

template <gnu_engine T>
requires requires { T::long_lag; }
struct engine_members<T> {
  static constexpr bool are_known = true;
  typename T::result_type words[T::long_lag], carry;
  std::size_t position;
  [[nodiscard]] bool can_draw() const noexcept {
    bool varies = false;
    for (const auto word : words) {
      if (word > (T::max)()) return false;
      varies = varies || word != (carry != 0 ? (T::max)() : 0);
    }
    return varies && carry <= 1 && position < T::long_lag;
  }
};

template <class T>
using members_of_base = engine_members<std::remove_cvref_t<decltype(std::declval<const T&>().base())>>;

template <gnu_engine T>
requires requires { T::used_block; }
struct engine_members<T> {
  static constexpr bool are_known = members_of_base<T>::are_known;
  members_of_base<T> base;
  std::size_t used;
  [[nodiscard]] bool can_draw() const noexcept { return base.can_draw() && used <= T::used_block; }
};

template <gnu_engine T>
requires requires { T::table_size; }
struct engine_members<T> {
  static constexpr bool are_known = members_of_base<T>::are_known;
  members_of_base<T> base;
  typename T::result_type table[T::table_size], last;
  [[nodiscard]] bool can_draw() const noexcept {
    const auto is_drawn = [](auto number) { return (T::min)() <= number && number <= (T::max)(); };
    for (const auto each : table)
      if (!is_drawn(each)) return false;
    return is_drawn(last) && base.can_draw();
  }
};

/// independent_bits_engine.
template <gnu_engine T>
requires(
    requires(const T& t) { t.base(); } && !requires { T::used_block; } && !requires { T::table_size; })
struct engine_members<T> {
  static constexpr bool are_known = members_of_base<T>::are_known;
  members_of_base<T> base;
  [[nodiscard]] bool can_draw() const noexcept { return base.can_draw(); }
};

/// Whether the members in these bytes, which are those of an object, can be those of an engine that draws.
template <class T>
bool can_draw(const void* bytes) {
  static_assert(sizeof(engine_members<T>) == sizeof(T), "cairn: this version of libstdc++ has other engines");
  engine_members<T> members;
  std::memcpy(&members, bytes, sizeof members);
  return members.can_draw();
}

/// Stored as the words of its object: these have no padding.
template <class T>
concept word_engine = engine_members<T>::are_known && std::has_unique_object_representations_v<T> && sizeof(T) % 8 == 0;

template <class T>
using engine_words = std::array<std::uint64_t, sizeof(T) / 8>;

template <class T>
concept has_weights = requires(const T& t) { t.probabilities(); };

/// What the functions below call of a type that is stored as a text.
struct random_operations {
  bool is_distribution;
  bool has_weights;  ///< the text begins with their number, for which libstdc++ allocates memory
  void (*write)(std::ostream& to, const void* object);
  void (*read)(std::istream& from, void* object);
  bool (*equal)(const void* a, const void* b);
  bool (*can_draw)(const void* object);
};

/// The text that the object streams, in the classic locale and with 17 digits. errc::invalid: read into `fresh`, it
/// does not give an equal object with the same text.
std::string write_random(const void* object, void* fresh, const random_operations& how);

/// Reads such a text into `fresh`. errc::mismatch: it is not the text of such an object.
void read_random(const std::string& from, void* fresh, const random_operations& how);

/// errc::mismatch: the stored value is not that of such an object: mostly that of another type.
[[noreturn]] void fail_random();
/// errc::invalid: an engine draws one number for ever.
[[noreturn]] void fail_dead_engine();

template <class T>
inline constexpr random_operations random_operations_of{
    distribution_type<T>,
    has_weights<T>,
    [](std::ostream& to, const void* object) { to << *static_cast<const T*>(object); },
    [](std::istream& from, void* object) { from >> *static_cast<T*>(object); },
    []([[maybe_unused]] const void* a, [[maybe_unused]] const void* b) {
      if constexpr (std::equality_comparable<T>)
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      else
        return true;
    },
    detail::can_draw<T>};

}  // namespace cairn::inline v0_1::detail
