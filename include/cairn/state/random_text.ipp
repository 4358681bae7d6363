// SPDX-License-Identifier: MIT
// Definitions of random_text.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <exception>
#include <locale>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/random_text.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

#if defined(_LIBCPP_VERSION)
inline constexpr bool is_llvm_library = true;  // its texts have no positions, and no parts of a distribution
#else
inline constexpr bool is_llvm_library = false;
#endif

std::string write_random(const void* object, const random_operations& how) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  how.write(text, object);
  return std::move(text).str();
}

/// Takes the last number off a text of numbers with one space between two. Nullopt: none of `least` to `most`.
inline std::optional<std::uint64_t> last_number(std::string_view& text, std::uint64_t least, std::uint64_t most) {
  const std::size_t space = text.rfind(' ');
  const auto number = text.substr(space + 1);  // npos + 1 is 0
  std::uint64_t value = 0;
  if (!read_number(number, value) || value < least || value > most) return {};
  text = text.substr(0, space == std::string_view::npos ? 0 : space);
  return value;
}

/// Takes the numbers of an engine and of its bases off the end of a text. Returns false for numbers that no such engine
/// has: indices beyond its words, words that are too large, and words from which it draws the same number for ever.
inline bool take_engine(std::string_view& text, const engine_text& engine) {
  using kind = engine_text::kind;
  switch (engine.what) {
    case kind::unknown:
      text = {};
      return true;
    case kind::bits:
      return take_engine(text, *engine.base);
    case kind::linear_congruential:
      return last_number(text, engine.least, engine.most).has_value();
    case kind::discard:
      return last_number(text, 0, engine.words) && take_engine(text, *engine.base);
    case kind::shuffle:
      for (std::size_t i = 0; i < engine.words + 1; ++i)
        if (!last_number(text, engine.least, engine.most)) return false;
      return take_engine(text, *engine.base);
    case kind::mersenne_twister: {
      if (!is_llvm_library && !last_number(text, 0, engine.words)) return false;
      bool varies = false;
      for (std::size_t i = engine.words; i-- > 0;) {
        const auto word = last_number(text, 0, engine.most);
        if (!word) return false;
        varies = varies || (i > 0 ? *word : *word >> engine.mask_bits) != 0;  // the last bits of the first are unused
      }
      return varies;
    }
    case kind::subtract_with_carry: {
      if (!is_llvm_library && !last_number(text, 0, engine.words - 1)) return false;
      const auto carry = last_number(text, 0, 1);
      if (!carry) return false;
      bool varies = false;
      for (std::size_t i = 0; i < engine.words; ++i) {
        const auto word = last_number(text, 0, engine.most);
        if (!word) return false;
        varies = varies || *word != (*carry ? engine.most : 0);
      }
      return varies;
    }
  }
  return false;
}

/// What the text of a distribution consists of, and the parameters with which each draw ends.
struct distribution_text {
  std::string_view name;
  /// p: a parameter; s: a number that a normal distribution has kept, or none; N: standard normal; G: gamma.
  std::string_view parts;
  bool (*ends)(long double a, long double b, const random_operations& how);
};

inline bool is_positive(long double number, const random_operations& how) {
  return how.asserts ? number > 0 : number >= 0;  // without assertions, the library draws with 0
}

/// For a Poisson distribution whose mean is drawn: few means are so large that its numbers cannot be drawn.
inline bool is_small(long double mean, const random_operations& how) { return mean <= how.most / 16; }

/// Whether a gamma distribution can draw such means for a negative binomial one, with `a` successes, `b` = (1 - p) / p.
inline bool draws_means(long double a, long double b, const random_operations& how) {
  return a >= 1 && (b >= 1e-20L || (b == 0 && !how.asserts)) && is_small(a * b, how);
}

inline constexpr distribution_text distribution_texts[] = {
    {"uniform_int", "pp", [](long double a, long double b, auto&) { return a <= b; }},
    {"uniform_real", "pp", [](long double a, long double b, auto&) { return a <= b; }},
    {"bernoulli", "p", [](long double a, long double, auto&) { return a >= 0 && a <= 1; }},
    {"binomial", "ppN",
     [](long double a, long double b, auto& how) {
       if (!(a >= 0 && b >= 0 && b <= 1 && a <= 0x1p52L)) return false;
       return a * (std::min)(b, 1 - b) < 8 || a <= how.most / 32;  // the standard library computes 32 * a as an integer
     }},
    {"negative_binomial", "ppG",
     [](long double a, long double b, auto& how) {
       return a > 0 && b > 0 && b <= 1 && is_small(a * (1 - b) / b, how);
     }},
    {"geometric", "p",
     [](long double a, long double, auto& how) {
       return a > 0 && (how.asserts ? a < 1 : a <= 1) && a * how.most >= 0.001L;  // else most numbers are too large
     }},
    {"poisson", "pN", [](long double a, long double, auto& how) { return is_positive(a, how) && a <= how.most; }},
    {"exponential", "p", [](long double a, long double, auto& how) { return is_positive(a, how); }},
    {"gamma", "ppN", [](long double a, long double, auto& how) { return is_positive(a, how); }},
    {"weibull", "pp", [](long double, long double, auto&) { return true; }},
    {"extreme_value", "pp", [](long double, long double, auto&) { return true; }},
    {"normal", "pps", [](long double, long double b, auto& how) { return is_positive(b, how); }},
    {"lognormal", "ppN", [](long double, long double, auto&) { return true; }},
    {"chi_squared", "pG", [](long double a, long double, auto& how) { return is_positive(a, how); }},
    {"cauchy", "pp", [](long double, long double, auto&) { return true; }},
    {"fisher_f", "ppGG",
     [](long double a, long double b, auto& how) { return is_positive(a, how) && is_positive(b, how); }},
    {"student_t", "pNG", [](long double a, long double, auto& how) { return is_positive(a, how); }},
};

/// Reads numbers from a text. Infinity and NaN are no numbers.
class number_reader {
 public:
  explicit number_reader(const std::string& text) : text_(text) { text_.imbue(std::locale::classic()); }

  template <class Number>
  bool read(Number& to) {
    return static_cast<bool>(text_ >> to);
  }
  [[nodiscard]] bool at_end() { return text_.peek() == std::istringstream::traits_type::eof(); }

 private:
  std::istringstream text_;
};

inline bool read_kept(number_reader& from) {
  long double is_kept = 0, kept = 0;
  if (!from.read(is_kept) || (is_kept != 0 && is_kept != 1)) return false;
  return is_kept == 0 || (from.read(kept) && kept >= -1000 && kept <= 1000);  // in units of the deviation
}

inline bool read_part(char part, number_reader& from, const random_operations& how, bool is_mean) {
  long double a = 0, b = 0;
  if (part == 's') return read_kept(from);
  if (!from.read(a) || !from.read(b)) return false;
  if (part == 'G') {
    if (is_mean ? !draws_means(a, b, how) : !is_positive(a, how)) return false;
    if (!from.read(a) || !from.read(b)) return false;
  }
  return a == 0 && b == 1 && read_kept(from);
}

/// "normal" of "std::normal_distribution<double>".
inline std::string_view short_distribution_name(std::string_view type) {
  type = type.substr(0, type.find('<'));
  type.remove_prefix((std::min)(type.rfind(':') + 1, type.size()));
  return type.substr(0, type.rfind("_distribution"));
}

inline bool is_distribution(const std::string& text, const random_operations& how) {
  const std::string_view name = short_distribution_name(how.distribution);
  const auto* const found = std::find_if(std::begin(distribution_texts), std::end(distribution_texts),
                                         [&](const distribution_text& each) { return each.name == name; });
  if (found == std::end(distribution_texts)) return true;
  std::string_view parts = found->parts;
  if (is_llvm_library) parts = name == "lognormal" ? "pps" : parts.substr(0, parts.find_first_of("NG"));
  number_reader from(text);
  long double parameters[2] = {};
  const std::size_t count = (std::min)(parts.find_first_not_of('p'), parts.size());
  for (std::size_t i = 0; i < count; ++i)
    if (!from.read(parameters[i])) return false;
  if (!found->ends(parameters[0], parameters[1], how)) return false;
  for (const char part : parts.substr(count))
    if (!read_part(part, from, how, name == "negative_binomial")) return false;
  return from.at_end();
}

inline bool is_discrete(const std::string& text) {
  number_reader from(text);
  std::size_t count = 0;
  if (!from.read(count) || count > text.size() / 2) return false;
  long double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double weight = 0;
    if (!from.read(weight) || !(weight >= 0)) return false;
    sum += weight;
  }
  return from.at_end() && sum <= (std::numeric_limits<double>::max)() && (count < 2 || sum > 0 || is_llvm_library);
}

/// Whether the text can be passed to `how.read`, and what that gives can be used.
inline bool is_possible(const std::string& text, const random_operations& how) {
  if (how.engine.what != engine_text::kind::unknown) {
    std::string_view rest = text;
    return take_engine(rest, how.engine) && rest.empty();
  }
  return how.distribution.empty() || (how.probabilities ? is_discrete(text) : is_distribution(text, how));
}

inline bool read_text(const std::string& from, void* fresh, const random_operations& how) {
  for (const char* const after : {"", " "}) {  // engines of Boost fail if no space follows the last number
    std::istringstream text(from + after);
    text.imbue(std::locale::classic());
    how.read(text, fresh);
    if (text) return true;
  }
  return false;
}

/// Weights that a discrete distribution, which divides them by their sum, turns into these probabilities; empty if none
/// are found. It looks for a factor that is the sum, as rounded, of the probabilities times the factor: of about
/// sqrt(probabilities) factors one is.
inline std::vector<double> weights_of(std::span<const double> probabilities) {
  constexpr std::size_t most_divisions = std::size_t{1} << 28U;  // about a second
  // While no weight has a larger exponent than its probability, some weight over the factor is the probability.
  double range = 1;
  for (const double each : probabilities) {
    const auto digits = std::bit_cast<std::uint64_t>(each) & ((std::uint64_t{1} << 52U) - 1);
    const auto mantissa = std::bit_cast<double>(digits | std::bit_cast<std::uint64_t>(1.0));
    range = (std::min)(range, 2 / mantissa - 1);
  }
  std::vector<double> weights(probabilities.size());
  double part = 0;
  for (std::size_t done = 0; done < most_divisions; done += weights.size() + 1) {
    const double factor = 1 + part * range;
    part += part < 0.3819660112501051 ? 0.6180339887498949 : -0.3819660112501051;
    double sum = 0;
    bool found = true;
    for (std::size_t i = 0; i < weights.size() && found; ++i) {
      const double wanted = probabilities[i];
      double weight = wanted * factor;
      if (weight / factor != wanted) {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(weight);
        weight = std::bit_cast<double>(weight / factor < wanted ? bits + 1 : bits - 1);
      }
      found = weight / factor == wanted;
      weights[i] = weight;
      sum += weight;
    }
    if (found && sum == factor) return weights;
  }
  return {};
}

inline std::string discrete_text(std::span<const double> weights) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.setf(std::ios_base::scientific, std::ios_base::floatfield);
  text.precision(17);
  text << weights.size();
  for (const double each : weights) text << ' ' << each;
  return std::move(text).str();
}

std::string write_tested(const void* object, void* fresh, const random_operations& how) {
  std::string text = write_random(object, how);
  if (!is_possible(text, how))
    fail(errc::invalid, {"this distribution cannot be saved: with its parameters, '",
                         std::string_view(text).substr(0, 200), "', a draw is undefined or may not end"});
  const auto comes_back = [&] { return read_text(text, fresh, how) && how.equal(object, fresh); };
  if (comes_back() && write_random(fresh, how) == text) return text;
  if (how.probabilities) {
    const auto weights = weights_of(how.probabilities(object));
    if (!weights.empty()) text = discrete_text(weights);
    if (comes_back()) return text;
  }
  fail(errc::invalid,
       {"this random engine or distribution cannot be saved: its text, '", std::string_view(text).substr(0, 200),
        "', does not read back to the same object; save the parameters that you make it from"});
}

void read_random(const std::string& from, void* fresh, const random_operations& how) {
  try {
    if (is_possible(from, how) && read_text(from, fresh, how) &&
        (how.probabilities || write_random(fresh, how) == from))
      return;
  } catch (const std::exception&) {  // what the operator >> of a user throws
  }
  fail(errc::mismatch, {"has a text in the checkpoint that is not that of this random engine or distribution: make it "
                        "the type that was saved, or leave it out with filter"});
}

}  // namespace cairn::inline v0_1::detail
