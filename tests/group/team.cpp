// SPDX-License-Identifier: MIT
#include "cairn/group/team.hpp"

#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cairn/group/threads.hpp"
#include "catch.hpp"

using cairn::errc;
using cairn::error;
using cairn::detail::team;

namespace {

/// Runs `act` at each rank, in a thread of its own. Returns the texts of what it gives or throws.
std::vector<std::string> at_each(unsigned size, const std::function<std::string(team&)>& act) {
  auto ranks = cairn::groups::threads::make(size);
  std::vector<std::string> said(size);
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      team own(ranks[rank], std::chrono::seconds(20));
      try {
        said[rank] = act(own);
      } catch (const error& cause) {
        said[rank] = "threw " + std::to_string(static_cast<int>(cause.code())) +
                     (cause.state_changed() ? " after a change: " : ": ") + std::string(cause.sentence());
      }
    });
  for (auto& each : threads) each.join();
  return said;
}

std::string number_of(errc code) { return std::to_string(static_cast<int>(code)); }

TEST_CASE("a team of one rank passes what its functions give and throw") {
  team alone;
  CHECK(alone.is_alone());
  CHECK(alone.is_leader());
  CHECK(alone.all([] { return 7; }) == 7);
  CHECK_THROWS_AS(alone.all([]() -> int { throw 7; }), int);
  CHECK(alone.from_leader([] { return "text"; }) == "text");
  CHECK(alone.gather([] { return "text"; }) == std::vector<std::string>{"text"});
  alone.require_same("all", "text");
  alone.require_same_list("the state", {});
  CHECK(alone.is_same(7));
  CHECK(alone.all_gather(7) == std::vector<std::uint64_t>{7});
  auto ranks = cairn::groups::threads::make(1);
  CHECK(team(ranks[0], std::chrono::seconds(1)).is_alone());
}

TEST_CASE("all ranks succeed, or all throw the error of the lowest rank that has failed") {
  for (unsigned failing = 0; failing < 8; ++failing) {
    const auto said = at_each(3, [&](team& ranks) {
      const auto result = ranks.all([&]() -> std::string {
        if ((failing >> ranks.rank() & 1U) != 0)
          throw error(errc::stale, "because of " + std::string(ranks.rank() * 10, 'x'));
        return "done by " + std::to_string(ranks.rank());
      });
      return result;
    });
    for (unsigned rank = 0; rank < 3; ++rank) {
      const unsigned lowest = failing % 2 != 0 ? 0 : failing % 4 != 0 ? 1 : 2;
      CHECK(said[rank] == (failing == 0 ? "done by " + std::to_string(rank)
                                        : "threw " + number_of(errc::stale) + ": rank " + std::to_string(lowest) +
                                              ": because of " + std::string(lowest * 10, 'x')));
    }
  }
}

TEST_CASE("other exceptions become errors, and a changed state is known at all ranks") {
  auto said = at_each(2, [](team& ranks) {
    ranks.all([&] {
      if (ranks.rank() == 1) throw std::bad_alloc();
    });
    return std::string();
  });
  CHECK(said[0] == "threw " + number_of(errc::no_memory) + ": rank 1: a rank has failed: not enough memory");
  CHECK(said[1] == said[0]);
  said = at_each(2, [](team& ranks) {
    ranks.all([&] {
      if (ranks.rank() == 1) throw error(errc::corrupt, "damaged").after_change();
    });
    return std::string();
  });
  CHECK(said[0] == "threw " + number_of(errc::corrupt) + " after a change: rank 1: damaged");
  CHECK(said[1] == said[0]);
}

TEST_CASE("the leader's text is that of all ranks, as is its error") {
  for (const auto& text : std::vector<std::string>{"", "a", "two\nlines", std::string(100'000, 'x')}) {
    const auto said = at_each(3, [&](team& ranks) {
      return ranks.from_leader([&] {
        if (!ranks.is_leader()) throw error(errc::invalid, "called at another rank");
        return text;
      });
    });
    CHECK(said == std::vector<std::string>(3, text));
  }
  const auto said = at_each(
      3, [](team& ranks) { return ranks.from_leader([]() -> std::string { throw error(errc::busy, "taken"); }); });
  CHECK(said == std::vector<std::string>(3, "threw " + number_of(errc::busy) + ": rank 0: taken"));
}

TEST_CASE("the leader gathers texts of any length, in order of rank") {
  const auto said = at_each(4, [](team& ranks) {
    std::string all;
    for (const auto& each : ranks.gather([&] { return std::string(ranks.rank() * ranks.rank(), 'a'); }))
      all += each + ";";
    return all;
  });
  CHECK(said == std::vector<std::string>{";a;aaaa;aaaaaaaaa;", "", "", ""});
}

TEST_CASE("ranks whose texts differ are named with them") {
  auto said = at_each(4, [](team& ranks) {
    ranks.require_same("the call", "save");
    return std::string("same");
  });
  CHECK(said == std::vector<std::string>(4, "same"));
  said = at_each(4, [](team& ranks) {
    ranks.require_same("the call", ranks.rank() == 2 ? "restore" : "save");
    return std::string();
  });
  CHECK(said ==
        std::vector<std::string>(4, "threw " + number_of(errc::mismatch) +
                                        ": rank 0: the ranks differ in the call: rank 0: save, rank 2: restore"));
}

TEST_CASE("the first text that differs is named, wherever it is") {
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back("text " + std::to_string(i));
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const auto size = random() % 12 + 1, at = random() % size;
    const auto rank = static_cast<unsigned>(random() % 3);
    auto own = std::vector(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(size)), other = own;
    const bool is_shorter = random() % 2 == 0;
    if (is_shorter)
      other.resize(at);
    else
      other[at] += " and more";
    const auto said = at_each(3, [&](team& ranks) {
      ranks.require_same_list("the state", ranks.rank() == rank ? other : own);
      return std::string("same");
    });
    INFO(said[0]);
    CHECK(said == std::vector<std::string>(3, said[0]));
    CHECK(said[0].find("the ranks differ in the state: ") != std::string::npos);
    CHECK(said[0].find("text " + std::to_string(at)) != std::string::npos);
    if (is_shorter) CHECK(said[0].find("no further part") != std::string::npos);
    CHECK(at_each(3, [&](team& ranks) {
            ranks.require_same_list("the state", own);
            return std::string("same");
          }) == std::vector<std::string>(3, "same"));
  }
}

TEST_CASE("all ranks learn the numbers of all, and whether they are the same") {
  const auto said = at_each(4, [&](team& ranks) {
    std::string text;
    for (const auto number : ranks.all_gather(10 + ranks.rank())) text += std::to_string(number) + " ";
    return text + (ranks.is_same(5) ? "same " : "") + (ranks.is_same(ranks.rank() / 3) ? "" : "differ");
  });
  CHECK(said == std::vector<std::string>(4, "10 11 12 13 same differ"));
}

TEST_CASE("a round is under way until it is ended") {
  const auto said = at_each(3, [&](team& ranks) {
    const std::uint64_t mine[] = {ranks.rank(), 7};
    ranks.begin_round(mine);
    const bool was_in_round = ranks.is_in_round();
    while (!ranks.test_round()) std::this_thread::yield();
    const auto all = ranks.end_round();
    return std::to_string(all[0]) + std::to_string(all[1]) + (was_in_round && !ranks.is_in_round() ? " ended" : "");
  });
  CHECK(said == std::vector<std::string>(3, "27 ended"));
}

}  // namespace
