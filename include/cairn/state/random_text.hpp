// SPDX-License-Identifier: MIT
// The text of a random engine or distribution. A text from a file may be hostile. It is taken only if the object that
// it makes is safe to use: a draw reads and writes only the object's own memory, and it ends.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/category.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

/// What the text of an engine of the standard library consists of: the text of its base, then its own numbers.
struct engine_text {
  enum class kind { unknown, linear_congruential, mersenne_twister, subtract_with_carry, discard, shuffle, bits };
  kind what = kind::unknown;
  std::uint64_t least = 0;  ///< number that it draws
  std::uint64_t most = 0;
  std::size_t words = 0;  ///< of its state, its table, or, for `discard`, used of each block
  unsigned mask_bits = 0;
  const engine_text* base = nullptr;
};

template <class T>
inline constexpr bool is_of_standard_library = type_name<T>().starts_with("std::");

template <class T>
consteval engine_text make_engine_text();

template <class T>
inline constexpr engine_text engine_text_of = make_engine_text<T>();

template <class T>
consteval engine_text make_engine_text() {
  using kind = engine_text::kind;
  if constexpr (!is_of_standard_library<T> || !random_engine_type<T>) {
    return {};
  } else if constexpr (requires(const T& t) { t.base(); }) {
    constexpr auto* base = &engine_text_of<std::remove_cvref_t<decltype(std::declval<const T&>().base())>>;
    if constexpr (requires { T::used_block; })
      return {kind::discard, (T::min)(), (T::max)(), T::used_block, 0, base};
    else if constexpr (requires { T::table_size; })
      return {kind::shuffle, (T::min)(), (T::max)(), T::table_size, 0, base};
    else
      return {kind::bits, (T::min)(), (T::max)(), 0, 0, base};
  } else if constexpr (requires { T::mask_bits; }) {
    return {kind::mersenne_twister, (T::min)(), (T::max)(), T::state_size, T::mask_bits, nullptr};
  } else if constexpr (requires { T::long_lag; }) {
    return {kind::subtract_with_carry, (T::min)(), (T::max)(), T::long_lag, 0, nullptr};
  } else if constexpr (requires { T::modulus; }) {
    return {kind::linear_congruential, (T::min)(), (T::max)(), 1, 0, nullptr};
  } else {
    return {};
  }
}

/// A type of random engines or distributions, as the functions below need it.
struct random_operations {
  engine_text engine;
  std::string_view distribution;  ///< name of one of the standard library with template arguments, else empty
  long double most;               ///< number that the distribution can draw
  bool asserts;                   ///< the standard library is compiled with assertions about parameters
  void (*write)(std::ostream& to, const void* object);
  void (*read)(std::istream& from, void* object);
  bool (*equal)(const void* a, const void* b);
  std::vector<double> (*probabilities)(const void* object);  ///< of a discrete distribution, else null
};

/// The text that the object streams, in the classic locale and with all digits.
std::string write_random(const void* object, const random_operations& how);

/// The same for a type that is not an engine of the standard library: tests with `fresh` that the text can be read
/// back. A discrete distribution divides its weights by their sum at each read, which can change the last bits: where
/// it does, the text has other weights, which give the same probabilities. errc::invalid: it cannot be read back.
std::string write_tested(const void* object, void* fresh, const random_operations& how);

/// Reads such a text into `fresh`. errc::mismatch: it is not the text of such an object, or of one whose draws would
/// not end: mostly that of another type, as the checksums of texts are verified. O(size).
void read_random(const std::string& from, void* fresh, const random_operations& how);

template <class T>
struct random_object {
  static void write(std::ostream& to, const void* object) { to << *static_cast<const T*>(object); }
  static void read(std::istream& from, void* object) { from >> *static_cast<T*>(object); }
  static bool equal([[maybe_unused]] const void* a, [[maybe_unused]] const void* b) {
    if constexpr (std::equality_comparable<T>)
      return *static_cast<const T*>(a) == *static_cast<const T*>(b);
    else
      return true;
  }
  static std::vector<double> probabilities(const void* object) {
    return static_cast<const T*>(object)->probabilities();
  }

  static consteval random_operations make() {
    random_operations made{engine_text_of<T>, {}, 0, false, write, read, equal, nullptr};
    if constexpr (is_of_standard_library<T> && distribution_type<T>) {
      using result = typename T::result_type;
      // Numbers of one byte are streamed as characters.
      if constexpr (sizeof(result) > 1 || std::same_as<result, bool>) made.distribution = type_name<T>();
      made.most = static_cast<long double>((std::numeric_limits<result>::max)());
#if defined(_GLIBCXX_ASSERTIONS)
      made.asserts = true;
#endif
      if constexpr (requires(const T& t) { t.probabilities(); }) made.probabilities = probabilities;
    }
    return made;
  }
};

template <class T>
inline constexpr random_operations random_operations_of = random_object<T>::make();

}  // namespace cairn::inline v0_1::detail
