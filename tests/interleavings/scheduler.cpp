// SPDX-License-Identifier: MIT
#include "interleavings/scheduler.hpp"

#include "catch.hpp"
#include "interleavings/choices.hpp"

namespace {

using namespace interleavings;

/// Three threads, each of which says its letter twice.
std::string say(const scheduler::chooser& choose) {
  std::string said;
  scheduler threads(choose, "a test");
  for (const char letter : {'a', 'b', 'c'})
    threads.start(0, std::string(1, letter), [&said, &threads, letter] {
      said += letter;
      threads.yield("between");
      said += letter;
    });
  threads.run();
  return said;
}

TEST_CASE("delays give all orders, each of them again", "[scheduler]") {
  std::set<std::string> all;
  for_all_delays(20, [&](const delays& chosen) {
    std::vector<std::size_t> numbers, same;
    const auto said = say(with_delays(chosen, numbers));
    CHECK(say(with_delays(delays_from(to_text(chosen)), same)) == said);
    CHECK(numbers == same);
    all.insert(said);
    return numbers;
  });
  CHECK(all.size() == 90);  // 6! / (2! 2! 2!)
}

TEST_CASE("a seed gives random priorities", "[scheduler]") {
  std::set<std::string> all;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto said = say(random_priorities(seed, 2, 6));
    CHECK(say(random_priorities(seed, 2, 6)) == said);
    all.insert(said);
  }
  CHECK(all.size() > 20);
}

TEST_CASE("the threads of a killed process stop where they are, and are unwound when all others have ended",
          "[scheduler]") {
  for (std::size_t after = 1; after <= 4; ++after) {
    std::vector<std::size_t> numbers;
    std::string said;
    scheduler threads(with_delays({}, numbers), "a test");
    threads.kill(0, after);
    threads.start(0, "killed", [&] {
      try {
        for (int i = 0; i < 10; ++i) {
          said += 'k';
          threads.yield("between");
        }
      } catch (const cairn::error&) {
        said += '!';
      }
    });
    threads.start(1, "lives", [&] { said += threads.is_killed(0) ? 'x' : 'l'; });
    threads.run();
    CHECK(said == std::string(after, 'k') + "x!");
  }
}

}  // namespace
