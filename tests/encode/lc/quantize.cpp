// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/quantize.hpp"

#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail::lc;

TEST_CASE("lc/quantize: a trial that is applied gives what quantizing in place gives") {
  std::mt19937 random(1);
  for (const std::size_t n : {std::size_t{100}, std::size_t{10'000}, block_elements + 777}) {
    std::vector<float> real(n), tracked(n);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < n; ++i) {
      tracked[i] = normal(random);
      real[i] = tracked[i] + 0.01F * normal(random);
    }
    const delta_view delta{dtype::f32, std::as_bytes(std::span(real)), std::as_bytes(std::span(tracked))};
    for (const unsigned bits : {2U, 3U}) {
      const auto found = survey(delta, {}, (std::size_t{1} << bits) - 1, 2);
      CHECK(found.all_finite);
      const auto symbols = make_symbols(found.chosen);
      const auto trial = quantize_on_trial(delta, bits, symbols, 2);
      CHECK(!trial.too_many_exceptions);
      auto applied = tracked;
      apply(trial, dtype::f32, delta_kind::difference, bits, symbols, std::as_writable_bytes(std::span(applied)), 2);
      auto in_place = tracked;
      const delta_view same{dtype::f32, delta.values, std::as_bytes(std::span(in_place))};
      const auto done = quantize_in_place(same, std::as_writable_bytes(std::span(in_place)), bits, symbols, 2);
      CHECK(applied == in_place);
      CHECK(std::equal(trial.packed.get(), trial.packed.get() + packed_size(n, bits), done.packed.get()));
      CHECK(trial.lost() == done.lost());
      CHECK(done.exceptions.empty());
    }
  }
}

TEST_CASE("lc/quantize: a block has at most most_exceptions, in the last block too") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const std::size_t rest = 1000, count = block_elements + rest;
  const std::vector<float> tracked(count, 1.0F);
  const auto quantize = [&](std::size_t begin, std::size_t exceptions) {
    auto real = tracked;
    for (std::size_t i = 0; i < exceptions; ++i) real[begin + i] = infinite;
    const delta_view delta{dtype::f32, std::as_bytes(std::span(real)), std::as_bytes(std::span(tracked))};
    auto result = quantize_on_trial(delta, 2, make_symbols({}), 1);
    if (!result.too_many_exceptions) CHECK(result.exceptions[begin / block_elements].size() == exceptions);
    return result.too_many_exceptions;
  };
  CHECK(most_exceptions(rest) == 16);
  for (const auto& [begin, size] : {std::pair{std::size_t{0}, block_elements}, std::pair{block_elements, rest}}) {
    CHECK_FALSE(quantize(begin, most_exceptions(size)));
    CHECK(quantize(begin, most_exceptions(size) + 1));
  }
}
