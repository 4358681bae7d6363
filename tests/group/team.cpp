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

TEST_CASE("the leader's list of texts is that of all ranks") {
  for (const auto& list : std::vector<std::vector<std::string>>{{}, {""}, {"a", "", std::string(3, '\0')}}) {
    const auto said = at_each(3, [&](team& ranks) {
      const auto all = ranks.from_leader([&] { return ranks.is_leader() ? list : std::vector<std::string>{"other"}; });
      return std::string(all == list ? "same" : "another");
    });
    CHECK(said == std::vector<std::string>(3, "same"));
  }
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
      ranks.require_same_list("the state", [&] { return ranks.rank() == rank ? other : own; });
      return std::string("same");
    });
    INFO(said[0]);
    CHECK(said == std::vector<std::string>(3, said[0]));
    CHECK(said[0].find("the ranks differ in the state: ") != std::string::npos);
    CHECK(said[0].find("text " + std::to_string(at)) != std::string::npos);
    if (is_shorter) CHECK(said[0].find("no further part") != std::string::npos);
    CHECK(at_each(3, [&](team& ranks) {
            ranks.require_same_list("the state", [&] { return own; });
            return std::string("same");
          }) == std::vector<std::string>(3, "same"));
  }
}

}  // namespace
