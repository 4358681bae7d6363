// SPDX-License-Identifier: MIT
#include "cairn/schedule/estimator.hpp"

#include "catch.hpp"

namespace {

/// A line to nowhere, once it has seen a loss.
struct last_seen {
  double loss = -1;

  void observe(double /*step*/, double value) { loss = value; }
  std::optional<cairn::loss_curve> curve() const {
    if (loss < 0) return std::nullopt;
    return cairn::loss_curve{cairn::loss_curve::family::exponential_floor, {0, 1, loss}};
  }
};

struct that_remembers : last_seen {
  void remember(cairn::policy_memory& memory) const { memory["last"] = {loss}; }
  void recall(const cairn::policy_memory& memory) {
    if (const auto kept = memory.find("last"); kept != memory.end()) loss = kept->second.at(0);
  }
};

struct says_nothing {
  void observe(double, double) {}
};

static_assert(cairn::estimator<last_seen>);
static_assert(cairn::estimator<cairn::any_estimator>);
static_assert(!cairn::estimator<says_nothing>);
static_assert(!cairn::estimator<int>);

TEST_CASE("an estimator of the user's own plugs in") {
  cairn::any_estimator chosen = last_seen{};
  CHECK_FALSE(chosen.curve());
  chosen.observe(1, 0.5);
  REQUIRE(chosen.curve());
  CHECK(chosen.curve()->at(7) == 0.5);
}

TEST_CASE("a copy of an estimator observes for itself") {
  cairn::any_estimator first = last_seen{};
  first.observe(1, 1);
  auto second = first;
  second.observe(2, 2);
  CHECK(first.curve()->at(0) == 1);
  CHECK(second.curve()->at(0) == 2);
  first = second;
  second.observe(3, 3);
  CHECK(first.curve()->at(0) == 2);
  first = std::move(second);
  CHECK(first.curve()->at(0) == 3);
}

TEST_CASE("an estimator may have a memory, and need not") {
  cairn::any_estimator first = that_remembers{}, second = that_remembers{}, without = last_seen{};
  first.observe(1, 4);
  without.observe(1, 4);
  cairn::policy_memory memory, empty;
  without.remember(empty);
  CHECK(empty.empty());
  first.remember(memory);
  second.recall(memory);
  without.recall(memory);
  REQUIRE(second.curve());
  CHECK(second.curve()->at(0) == 4);
}

using cairn::loss_curve;
using cairn::name;
using cairn::parameter_count;
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
