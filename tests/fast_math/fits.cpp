// SPDX-License-Identifier: MIT
// Fits of losses whose definitions are compiled with -ffast-math: losses that are no numbers are passed over, as
// without the flag.
#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/fits/estimators.hpp"
#include "cairn/schedule/fits/fit.hpp"
#include "cairn/schedule/every.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "plain_check.hpp"

#if !defined(__FAST_MATH__)
#error "this test is for -ffast-math"
#endif

namespace {

using tests::check;

/// A number that the compiler does not know.
double number(const char* text) { return std::strtod(text, nullptr); }

}  // namespace

int main() {
  const std::vector<double> special{number("nan"), number("inf"), number("-inf"), number("1e101"), number("-nan")};
  cairn::estimators::exponential_floor clean, mixed;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  for (std::uint64_t step = 1; step <= 2000; ++step) {
    const auto at = static_cast<double>(step);
    const double loss = 0.5 + 2 * std::exp(-at / 500) + noise(random);
    if (step % 7 == 0) mixed.observe(at, special[step % special.size()]);
    clean.observe(at, loss);
    mixed.observe(at, loss);
  }
  cairn::policy_memory of_clean, of_mixed;
  clean.window().remember(of_clean);
  mixed.window().remember(of_mixed);
  check(of_mixed == of_clean, "losses that are not finite leave no trace");
  const auto curve = mixed.curve();
  check(curve && std::abs(curve->at(1500) - (0.5 + 2 * std::exp(-3.0))) < 0.02, "the curve is found");
  for (int i = 0; i < 20; ++i) mixed.observe(2001.0 + i, special[0]);
  check(mixed.window().passed_over() == 20, "they are counted");
  check(!mixed.curve(), "a loss that has become no number has no curve");

  // Losses so large, small or alike that a fit computes numbers that are not finite.
  for (int i = 0; i < 300; ++i) {
    cairn::estimators::exponential_floor extreme;
    for (int step = 1; step <= 300; ++step) {
      const double size = std::pow(10.0, static_cast<double>(random() % 400) - 300);
      extreme.observe(step, std::min(size, 1e99) * (random() % 3 == 0 ? -1 : 1));
    }
    if (const auto found = extreme.curve()) check(cairn::detail::is_finite(found->at(600)), "a curve is finite");
  }

  const cairn::schedule::detail::matrix singular{{{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const auto x = cairn::schedule::detail::solve(singular, {1, 1, 1, 1});
  check(!cairn::detail::is_finite(x[0]), "a singular system has no solution");
  check(cairn::detail::is_infinite(cairn::detail::infinite()) && cairn::detail::is_infinite(-cairn::detail::infinite()),
        "infinity is infinite");

  const std::chrono::duration<double> no_time(number("nan"));
  bool is_refused = false;
  try {
    const cairn::policies::every policy(no_time);
  } catch (const cairn::error& failure) {
    is_refused = failure.code() == cairn::errc::invalid;
  }
  check(is_refused, "a period that is no number is refused");
  using cairn::schedule::mtbf_estimate;
  check(mtbf_estimate({no_time, 1.5}).rate() == mtbf_estimate().rate(), "an MTBF that is no number is the default one");
  return tests::failures;
}
