#include "cairn/schedule/course.hpp"

#include <random>

#include "catch.hpp"

using cairn::schedule::costs;
using cairn::schedule::course;

TEST_CASE("a course has as many steps as iterations") {
  CHECK(course{}.steps() == 0);
  CHECK(course{.seconds = {1, 2, 3}, .loss = {4, 3, 2, 1}}.steps() == 3);
}

TEST_CASE("there is one worker where nothing is said, else as many as are said of each iteration") {
  const course alone{.seconds = {1, 2, 3}}, shrinking{.seconds = {1, 2, 3}, .workers = {4, 2, 1}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(alone.workers_at(i) == 1);
    CHECK(shrinking.workers_at(i) == shrinking.workers[i]);
  }
}

TEST_CASE("a save takes its stall from the training, and its part of what is behind it") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(0, 10);
  for (int i = 0; i < 100; ++i) {
    const costs some{
        .stall = number(random), .background = number(random), .slowdown = number(random) / 10, .restore = 7};
    CHECK(some.of_a_save() >= some.stall);
    CHECK(some.of_a_save() == Catch::Approx(some.stall + some.background * some.slowdown));
    CHECK(costs{.stall = some.stall, .background = some.background}.of_a_save() == some.stall);
  }
  CHECK(costs{}.of_a_save() == 0);
}
