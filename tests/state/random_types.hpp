// SPDX-License-Identifier: MIT
// Engines and distributions of the standard library, as tables of functions: their stored forms as texts, and what
// reading a text gives. The words of an engine are numbers with one space between two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/state/copies.hpp"

namespace tests {

template <class T>
concept engine = requires(T& t) { t(); };

inline std::string as_text(const std::string& stored) { return stored; }
template <std::size_t Size>
std::string as_text(const std::array<std::uint64_t, Size>& stored) {
  std::string text;
  for (const auto each : stored) text += (text.empty() ? "" : " ") + std::to_string(each);
  return text;
}

inline bool read_text(const std::string& text, std::string& stored) { return stored = text, true; }
/// False: it is not the text of that many words.
template <std::size_t Size>
bool read_text(const std::string& text, std::array<std::uint64_t, Size>& stored) {
  std::istringstream from(text);
  for (auto& each : stored) from >> each;
  return from && as_text(stored) == text;
}

struct random_type {
  const char* name;
  /// The text of an object in the middle of its life.
  std::string (*text)(unsigned seed);
  /// Reads a text; engines draw. Returns false if the text is refused. Throws std::logic_error if the object has
  /// another text.
  bool (*use)(const std::string& text);
};

template <class T>
std::string text_of(unsigned seed) {
  T object;
  if constexpr (engine<T>) {
    object.seed(seed);
    object.discard(seed % 1500);
  } else {
    std::mt19937_64 from(seed);
    for (unsigned i = 0; i < seed % 4; ++i) (void)object(from);
  }
  return as_text(cairn::detail::copy_traits<T>::take(object));
}

template <class T>
bool use_text(const std::string& text) {
  T object;
  typename cairn::detail::copy_traits<T>::type stored;
  if (!read_text(text, stored)) return false;
  try {
    cairn::detail::copy_traits<T>::put(object, stored);
  } catch (const cairn::error& refused) {
    if (refused.code() != cairn::errc::mismatch) throw;
    return false;
  }
  if (as_text(cairn::detail::copy_traits<T>::take(object)) != text) throw std::logic_error("another text");
  if constexpr (engine<T>)
    for (int i = 0; i < 1000; ++i) (void)object();
  return true;
}

template <class T>
constexpr random_type random_type_of(const char* name) {
  return {name, text_of<T>, use_text<T>};
}

/// The words of libstdc++ have 8 bytes where these say std::uint_fast32_t; here they have 4.
using short_twister = std::mersenne_twister_engine<std::uint32_t, 32, 624, 397, 31, 0x9908b0dfU, 11, 0xffffffffU, 7,
                                                   0x9d2c5680U, 15, 0xefc60000U, 18, 1812433253U>;
/// With padding, so that they are stored as a text.
using padded_twister = std::mersenne_twister_engine<std::uint32_t, 32, 351, 175, 19, 0xccab8ee7U, 11, 0xffffffffU, 7,
                                                    0x31b6ab00U, 15, 0xffe50000U, 17, 1812433253U>;
using padded_carry = std::subtract_with_carry_engine<std::uint32_t, 24, 10, 24>;

inline constexpr random_type random_types[] = {
    random_type_of<std::minstd_rand0>("minstd_rand0"),
    random_type_of<std::linear_congruential_engine<std::uint64_t, 6364136223846793005U, 1442695040888963407U, 0>>(
        "lcg 2^64"),
    random_type_of<std::mt19937>("mt19937"),
    random_type_of<std::mt19937_64>("mt19937_64"),
    random_type_of<std::ranlux24_base>("ranlux24_base"),
    random_type_of<std::ranlux48_base>("ranlux48_base"),
    random_type_of<std::ranlux24>("ranlux24"),
    random_type_of<std::ranlux48>("ranlux48"),
    random_type_of<std::knuth_b>("knuth_b"),
    random_type_of<std::independent_bits_engine<std::ranlux24, 40, std::uint64_t>>("independent_bits"),
    random_type_of<std::shuffle_order_engine<std::mt19937_64, 16>>("shuffle_order of mt19937_64"),
    random_type_of<short_twister>("twister of 4 bytes"),
    random_type_of<padded_twister>("padded twister"),
    random_type_of<padded_carry>("padded subtract_with_carry"),
    random_type_of<std::shuffle_order_engine<padded_carry, 8>>("padded shuffle_order"),
    random_type_of<std::uniform_int_distribution<short>>("uniform_int short"),
    random_type_of<std::uniform_int_distribution<std::uint64_t>>("uniform_int uint64"),
    random_type_of<std::uniform_real_distribution<float>>("uniform_real float"),
    random_type_of<std::bernoulli_distribution>("bernoulli"),
    random_type_of<std::binomial_distribution<>>("binomial"),
    random_type_of<std::binomial_distribution<long>>("binomial long"),
    random_type_of<std::negative_binomial_distribution<>>("negative_binomial"),
    random_type_of<std::geometric_distribution<>>("geometric"),
    random_type_of<std::poisson_distribution<>>("poisson"),
    random_type_of<std::poisson_distribution<long>>("poisson long"),
    random_type_of<std::exponential_distribution<>>("exponential"),
    random_type_of<std::gamma_distribution<>>("gamma"),
    random_type_of<std::gamma_distribution<float>>("gamma float"),
    random_type_of<std::weibull_distribution<>>("weibull"),
    random_type_of<std::extreme_value_distribution<>>("extreme_value"),
    random_type_of<std::normal_distribution<>>("normal"),
    random_type_of<std::normal_distribution<float>>("normal float"),
    random_type_of<std::lognormal_distribution<>>("lognormal"),
    random_type_of<std::chi_squared_distribution<>>("chi_squared"),
    random_type_of<std::cauchy_distribution<>>("cauchy"),
    random_type_of<std::fisher_f_distribution<>>("fisher_f"),
    random_type_of<std::student_t_distribution<>>("student_t"),
    random_type_of<std::discrete_distribution<>>("discrete"),
};

}  // namespace tests
