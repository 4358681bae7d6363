#include "cairn/schedule/simulate.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"

using cairn::schedule::mean_of;

TEST_CASE("a mean and its interval, by hand") {
  const auto of_four = mean_of(std::vector<double>{1, 2, 3, 6});
  CHECK(of_four.mean == 3);
  CHECK(of_four.standard_error == Catch::Approx(std::sqrt(14.0 / 3 / 4)));
  CHECK(of_four.high() == Catch::Approx(3 + 1.96 * of_four.standard_error).epsilon(1e-4));
  CHECK(of_four.low() == Catch::Approx(3 - 1.96 * of_four.standard_error).epsilon(1e-4));
}

TEST_CASE("one value says nothing of how far it may be off, and none is 0") {
  CHECK(mean_of(std::vector<double>{5}).mean == 5);
  CHECK(std::isinf(mean_of(std::vector<double>{5}).standard_error));
  CHECK(mean_of(std::vector<double>{}).mean == 0);
  CHECK(std::isinf(mean_of(std::vector<double>{}).standard_error));
}

TEST_CASE("the interval holds the mean of all in about 95 of 100 samples") {
  std::mt19937_64 random(1);
  std::gamma_distribution<double> draw(2, 3);
  int held = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> values(60);
    for (auto& each : values) each = draw(random);
    const auto found = mean_of(values);
    held += found.low() <= 6 && 6 <= found.high() ? 1 : 0;
  }
  CHECK(held > 1850);
  CHECK(held < 1930);
}
