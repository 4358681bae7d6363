#include "cairn/schedule/estimator.hpp"

#include <random>
#include <set>
#include <vector>

#include "catch.hpp"

namespace {

using cairn::loss_curve;
using cairn::name;
using cairn::parameter_count;
using Catch::Approx;
using family = loss_curve::family;

constexpr family all[] = {family::exponential, family::exponential_floor, family::inverse_linear,
                          family::inverse_quadratic, family::power_law};

/// A falling curve.
loss_curve random_curve(family shape, std::mt19937& random) {
  std::uniform_real_distribution<double> part(0.1, 1);
  const auto number = [&] { return part(random); };
  switch (shape) {
    case family::exponential:
      return {shape, {-0.01 * number(), number()}};
    case family::exponential_floor:
      return {shape, {3 * number(), 0.01 * number(), number()}};
    case family::inverse_linear:
      return {shape, {0.01 * number(), number(), number()}};
    case family::inverse_quadratic:
      return {shape, {1e-4 * number(), 0.01 * number(), number(), number()}};
    case family::power_law:
      return {shape, {2 * number(), number(), number()}};
  }
  return {};
}

}  // namespace

TEST_CASE("the slope of a curve is its change per step") {
  std::mt19937 random(1);
  for (const auto shape : all)
    for (int i = 0; i < 200; ++i) {
      const auto curve = random_curve(shape, random);
      INFO(name(shape));
      for (const double x : {0.0, 1.0, 17.5, 300.0}) {
        const double h = 1e-3, numeric = (curve.at(x + h) - curve.at(x - h)) / (2 * h);
        CHECK(curve.slope(x) < 0);
        CHECK(curve.slope(x) == Approx(numeric).epsilon(1e-5).margin(1e-10));
      }
    }
}

TEST_CASE("each family is its formula") {
  CHECK(loss_curve{family::exponential, {-0.5, 1}}.at(2) == Approx(1));
  CHECK(loss_curve{family::exponential_floor, {2, 0, 3}}.at(9) == Approx(5));
  CHECK(loss_curve{family::inverse_linear, {0.5, 1, 3}}.at(2) == Approx(3.5));
  CHECK(loss_curve{family::inverse_quadratic, {1, 2, 2, 3}}.at(2) == Approx(3.1));
  CHECK(loss_curve{family::power_law, {2, 0.5, 3}}.at(3) == Approx(4));
}

TEST_CASE("a family has as many parameters as its curve depends on") {
  std::mt19937 random(2);
  for (const auto shape : all) {
    INFO(name(shape));
    const auto curve = random_curve(shape, random);
    for (std::size_t i = 0; i < curve.p.size(); ++i) {
      auto other = curve;
      other.p[i] += 0.01;
      CHECK((other.at(5) != curve.at(5)) == (i < static_cast<std::size_t>(parameter_count(shape))));
      CHECK_FALSE(other == curve);
    }
  }
}

TEST_CASE("each family has a name of its own") {
  std::set<std::string_view> names;
  for (const auto shape : all) names.insert(name(shape));
  CHECK(names.size() == std::size(all));
  CHECK_FALSE(names.contains("unknown"));
  CHECK(name(static_cast<family>(std::size(all))) == "unknown");
}
