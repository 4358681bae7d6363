#include "cairn/schedule/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "catch.hpp"

namespace {

using cairn::schedule::mean_of;
using cairn::schedule::seeded_numbers;

template <class Draw>
std::vector<double> draws(int count, const Draw& draw) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(draw(static_cast<std::uint64_t>(i)));
  return all;
}

/// The mean, and that of the squares, by 99.9 %.
bool has_moments(std::vector<double> values, double first, double second) {
  const auto is_near = [&](double expected) {
    const auto found = mean_of(values);
    return std::abs(found.mean - expected) < 3.29 * found.standard_error;
  };
  const bool has_first = is_near(first);
  for (auto& each : values) each *= each;
  return has_first && is_near(second);
}

/// The greatest distance between the distribution found and the one expected, times the root of their number: Kolmogorov's.
template <class Distribution>
double distance(std::vector<double> values, const Distribution& expected) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double greatest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    greatest = std::max(greatest, std::abs((static_cast<double>(i) + 0.5) / n - expected(values[i])));
  return greatest * std::sqrt(n);
}

}  // namespace

TEST_CASE("a number depends on the seed and its index alone") {
  const seeded_numbers a(1), b(1), c(2);
  for (std::uint64_t i : {5U, 0U, 7U, 5U}) {
    CHECK(a.bits(i) == b.bits(i));
    CHECK(a.stream(i).bits(3) == b.stream(i).bits(3));
    CHECK(a.bits(i) != c.bits(i));
    CHECK(a.uniform(i) == b.uniform(i));
  }
  CHECK(seeded_numbers(1234567).bits(0) == 6457827717110365317U);  // the first of splitmix64 with that seed
  CHECK(seeded_numbers(1234567).bits(1) == 3203168211198807973U);
}

TEST_CASE("streams of a seed, and seeds that follow on each other, have no numbers in common") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t stream = 0; stream < 10; ++stream)
      for (std::uint64_t i = 0; i < 100; ++i) seen.insert(seeded_numbers(seed).stream(stream).bits(i));
  CHECK(seen.size() == 10000);
}

TEST_CASE("numbers are distributed as they say") {
  const int n = 50000;
  for (const std::uint64_t seed : {0U, 1U, 99U}) {
    const auto numbers = seeded_numbers(seed).stream(3);
    const auto uniform = draws(n, [&](auto i) { return numbers.uniform(i); });
    const auto exponential = draws(n, [&](auto i) { return numbers.exponential(i); });
    const auto normal = draws(n, [&](auto i) { return numbers.normal(i); });
    const auto across = draws(n, [&](auto i) { return seeded_numbers(seed).stream(i).uniform(0); });
    CHECK(has_moments(uniform, 0.5, 1 / 3.0));
    CHECK(has_moments(across, 0.5, 1 / 3.0));
    CHECK(has_moments(exponential, 1, 2));
    CHECK(has_moments(normal, 0, 1));
    CHECK(distance(uniform, [](double x) { return x; }) < 1.95);  // one in a thousand is greater
    CHECK(distance(across, [](double x) { return x; }) < 1.95);
    CHECK(distance(exponential, [](double x) { return -std::expm1(-x); }) < 1.95);
    CHECK(distance(normal, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }) < 1.95);
    CHECK(*std::min_element(uniform.begin(), uniform.end()) > 0);
    CHECK(*std::max_element(uniform.begin(), uniform.end()) < 1);
  }
}
