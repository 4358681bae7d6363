// SPDX-License-Identifier: MIT
#include "cairn/schedule/every.hpp"

#include <limits>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

/// The steps after which `policy` saves, asked after each of `steps`; a second passes per step.
template <class Policy>
std::vector<std::uint64_t> saves(Policy policy, const std::vector<std::uint64_t>& steps, std::uint64_t begun_at = 0) {
  std::vector<std::uint64_t> saved;
  cairn::moment now{.saved_step = begun_at};
  for (const auto step : steps) {
    now.step = step;
    now.seconds = static_cast<double>(step - begun_at);
    if (!policy.should_save(now)) continue;
    saved.push_back(step);
    now.saved_step = now.step;
    now.saved_seconds = now.seconds;
  }
  return saved;
}

using steps = std::vector<std::uint64_t>;
using cairn::policies::every;
using cairn::policies::every_steps;
using std::chrono::seconds;

}  // namespace

TEST_CASE("every n steps: at the multiples") {
  CHECK(saves(every_steps{3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == steps{3, 6, 9});
  CHECK(saves(every_steps{1}, {0, 1, 2, 3}) == steps{1, 2, 3});
  CHECK(saves(every_steps{100}, {1, 50, 99}).empty());
}

TEST_CASE("every n steps: the same steps after a restore in between") {
  CHECK(saves(every_steps{10}, {14, 15, 19, 20, 21, 30}, 13) == steps{20, 30});
  CHECK(saves(every_steps{10}, {21, 29, 30}, 20) == steps{30});
}

TEST_CASE("every n steps: where the count jumps over a multiple, at the next step") {
  CHECK(saves(every_steps{10}, {8, 13, 17, 19, 41, 42, 50}) == steps{13, 41, 50});
}

TEST_CASE("every n steps: asked again for the step that it saved, it does not save twice") {
  CHECK(saves(every_steps{5}, {5, 5, 5, 10, 10}) == steps{5, 10});
}

TEST_CASE("every 0 steps is never") { CHECK(saves(every_steps{0}, {0, 1, 2, 1000}).empty()); }

TEST_CASE("every period: when it has passed since the last save") {
  CHECK(saves(every{seconds{3}}, {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14}) == steps{3, 6, 11, 14});
  CHECK(saves(every{seconds{3}}, {101, 102, 103, 104}, 100) == steps{103});
  CHECK(saves(every{std::chrono::minutes{1}}, {1, 59}).empty());
  CHECK(saves(every{std::chrono::milliseconds{2500}}, {2, 3, 5, 6}) == steps{3, 6});
}

TEST_CASE("every period: no second checkpoint of one step") {
  const cairn::moment now{.step = 7, .seconds = 1000, .saved_step = 7, .saved_seconds = 1, .loss = {}};
  CHECK_FALSE(every{seconds{3}}.should_save(now));
  CHECK(saves(every{std::chrono::milliseconds{1}}, {1, 1, 2, 3, 3}) == steps{1, 2, 3});
}

TEST_CASE("every period: one that is not above 0 is refused") {
  using period = std::chrono::duration<double>;
  const double no_number = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  for (const double wrong : {0.0, -0.0, -1.0, -infinite, no_number}) {
    const auto failure = sample::failure_of([&] { static_cast<void>(every{period{wrong}}); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("the period of policies::every is "));
    CHECK(failure.says(", not above 0"));
  }
  CHECK(saves(every{period{infinite}}, {1, 2, 1000}).empty());
}
