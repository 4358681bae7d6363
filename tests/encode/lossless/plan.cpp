// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/plan.hpp"

#include <random>
#include <vector>

#include "catch.hpp"

using namespace cairn::detail::lossless;

namespace {

constexpr std::size_t count = 100'000;

template <class Value>
elements elements_of(cairn::dtype type, const std::vector<Value>& values) {
  return {format_of(type), reinterpret_cast<const std::byte*>(values.data()), nullptr, values.size()};
}

std::vector<float> gaussian(std::size_t zeros_per_10) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.03F);
  std::vector<float> made(count);
  for (auto& each : made) each = random() % 10 < zeros_per_10 ? 0 : normal(random);
  return made;
}

}  // namespace

TEST_CASE("of weights the exponents are coded, once the sign is out of the way") {
  const auto weights = gaussian(0);
  const auto plan = plan_block(elements_of(cairn::dtype::f32, weights));
  CHECK(plan.rotated);
  CHECK(plan.coded_planes == 8);
  CHECK_FALSE(plan.without_zeros);
}

TEST_CASE("where all signs are alike, they stay with the exponents") {
  auto squares = gaussian(0);
  for (auto& each : squares) each *= each;
  const auto plan = plan_block(elements_of(cairn::dtype::f32, squares));
  CHECK_FALSE(plan.rotated);
  CHECK(plan.coded_planes == 8);
}

TEST_CASE("zeros are taken out where there are many") {
  CHECK(plan_block(elements_of(cairn::dtype::f32, gaussian(3))).without_zeros);
  CHECK(plan_block(elements_of(cairn::dtype::f32, gaussian(10))).without_zeros);
  CHECK_FALSE(plan_block(elements_of(cairn::dtype::f32, gaussian(0))).without_zeros);
}

TEST_CASE("of random integers nothing is coded, of small ones the upper bytes are") {
  std::mt19937 random(2);
  std::vector<std::uint32_t> values(count);
  for (auto& each : values) each = static_cast<std::uint32_t>(random());
  CHECK(plan_block(elements_of(cairn::dtype::u32, values)).coded_planes == 0);
  for (auto& each : values) each >>= 16;
  const auto plan = plan_block(elements_of(cairn::dtype::u32, values));
  CHECK(plan.coded_planes == 0xC);
  CHECK_FALSE(plan.rotated);
}

TEST_CASE("one element is enough for a plan") {
  const std::vector<double> one{1.5}, zero{0};
  CHECK(plan_block(elements_of(cairn::dtype::f64, one)).coded_planes == 0xFF);  // each is all alike
  CHECK(plan_block(elements_of(cairn::dtype::f64, zero)).cost <= plan_block(elements_of(cairn::dtype::f64, one)).cost);
}
