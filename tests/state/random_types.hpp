// SPDX-License-Identifier: MIT
// Engines and distributions of the standard library, as tables of functions: their texts, and what reading a text
// gives.
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/state/copies.hpp"

namespace tests {

/// Ends a draw that takes too many numbers.
class bounded_engine {
 public:
  using result_type = std::mt19937_64::result_type;
  static constexpr result_type min() { return std::mt19937_64::min(); }
  static constexpr result_type max() { return std::mt19937_64::max(); }

  result_type operator()() {
    if (left_-- == 0) throw std::runtime_error("draws do not end");
    return engine_();
  }

 private:
  std::mt19937_64 engine_{1};
  std::uint64_t left_ = 4'000'000;
};

template <class T>
concept engine = requires(T& t) { t(); };

/// Draws 1,000 numbers. Throws std::runtime_error if that does not end.
template <class T>
void draw(T& object) {
  if constexpr (engine<T>) {
    for (int i = 0; i < 1000; ++i) (void)object();
  } else {
    bounded_engine from;
    for (int i = 0; i < 1000; ++i) (void)object(from);
  }
}

struct random_type {
  const char* name;
  /// The text of an object in the middle of its life.
  std::string (*text)(unsigned seed);
  /// Reads a text and draws. Returns false if the text is refused. Throws std::logic_error if the object has another
  /// text.
  bool (*use)(const std::string& text);
};

template <class T>
std::string text_of(unsigned seed) {
  if constexpr (engine<T>) {
    T object(seed);
    object.discard(seed % 1500);
    return cairn::detail::copy_traits<T>::take(object);
  } else {
    T object;
    std::mt19937_64 from(seed);
    for (unsigned i = 0; i < seed % 4; ++i) (void)object(from);
    return cairn::detail::copy_traits<T>::take(object);
  }
}

template <class T>
bool use_text(const std::string& text) {
  T object;
  try {
    cairn::detail::copy_traits<T>::put(object, text);
  } catch (const cairn::error& refused) {
    if (refused.code() != cairn::errc::mismatch) throw;
    return false;
  }
  constexpr bool is_normalised = requires { object.probabilities(); };
  if (!is_normalised && cairn::detail::copy_traits<T>::take(object) != text) throw std::logic_error("another text");
  draw(object);
  return true;
}

template <class T>
constexpr random_type random_type_of(const char* name) {
  return {name, text_of<T>, use_text<T>};
}

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
