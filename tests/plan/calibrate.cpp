// SPDX-License-Identifier: MIT
#include "cairn/plan/calibrate.hpp"

#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::plan::calibrate;
using cairn::plan::measured_write;
using cairn::plan::write_cost;
using Catch::Approx;

namespace {

/// Saves of different sizes and numbers of tensors that take what `cost` says, up to a relative error.
std::vector<measured_write> saves_of(const write_cost& cost, double error = 0) {
  std::mt19937_64 random(1);
  std::vector<measured_write> samples;
  for (std::uint64_t bytes = 1'000'000; bytes <= 4'000'000'000; bytes *= 4)
    for (const std::uint64_t tensors : {10U, 400U, 10'000U}) {
      const double off = static_cast<double>(random() % 2001) / 1000 - 1;
      samples.push_back({bytes, tensors, cost.seconds(bytes, tensors) * (1 + error * off)});
    }
  return samples;
}

}  // namespace

TEST_CASE("a calibration finds the cost that the samples have") {
  const write_cost cost{2e-3, 1e-9, 3e-6};
  const auto exact = calibrate(saves_of(cost));
  CHECK(exact.base == Approx(2e-3).epsilon(1e-6));
  CHECK(exact.per_byte == Approx(1e-9).epsilon(1e-6));
  CHECK(exact.per_tensor == Approx(3e-6).epsilon(1e-6));
  const auto slow = calibrate(saves_of({2e6, 1, 3e3}));
  CHECK(slow.base == Approx(2e6).epsilon(1e-6));
  CHECK(slow.per_byte == Approx(1).epsilon(1e-6));

  // Relative errors count: a save of a millisecond is predicted as well as one of seconds.
  const auto noisy = calibrate(saves_of(cost, 0.1));
  for (const auto& each : saves_of(cost))
    CHECK(noisy.seconds(each.bytes, each.tensors) == Approx(each.seconds).epsilon(0.08));
}

TEST_CASE("no part of a cost is negative") {
  const auto samples_of = [](double base, double per_tensor) {
    std::vector<measured_write> samples;
    for (const std::uint64_t tensors : {10U, 20U, 30U})
      for (const std::uint64_t mib : {100U, 200U, 300U})
        samples.push_back(
            {mib << 20U, tensors, base + static_cast<double>(mib) * 1e-3 + static_cast<double>(tensors) * per_tensor});
    return samples;
  };
  const auto fewer_tensors = calibrate(samples_of(0, -1e-4));
  CHECK(fewer_tensors.per_tensor == 0);
  CHECK(fewer_tensors.per_byte == Approx(1e-3 / (1 << 20)).epsilon(0.05));
  const auto no_base = calibrate(samples_of(-0.02, 0));
  CHECK(no_base.base == 0);
  CHECK(no_base.per_byte == Approx(1e-3 / (1 << 20)).epsilon(0.15));
}

TEST_CASE("what the samples cannot tell is 0") {
  const auto one = calibrate(std::vector<measured_write>{{1000, 10, 2}});
  CHECK(one.seconds(1000, 10) == Approx(2));
  const auto same_tensors = calibrate(std::vector<measured_write>{{1000, 10, 2}, {2000, 10, 3}});
  CHECK(same_tensors.seconds(3000, 10) == Approx(4));
  const auto no_tensors = calibrate(std::vector<measured_write>{{1000, 0, 2}, {2000, 0, 3}});
  CHECK(no_tensors.base == Approx(1));
  CHECK(no_tensors.per_tensor == 0);
}

TEST_CASE("a calibration without times is refused") {
  const auto refused = [](const std::vector<measured_write>& samples, const std::string& text) {
    const auto failure = sample::failure_of([&] { static_cast<void>(calibrate(samples)); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says(text));
  };
  refused({}, "a calibration has no samples");
  for (const double seconds :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    refused({{1, 1, 1}, {1, 1, seconds}}, "a write of a calibration takes");
}
