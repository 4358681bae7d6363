// SPDX-License-Identifier: MIT
#include "cairn/run/session.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"

using cairn::detail::ballot;
using cairn::detail::fill_ballot;
using cairn::detail::read_ballots;
using cairn::detail::save_phase;
using cairn::detail::verdict;
using cairn::detail::vote;

namespace {

verdict count(const std::vector<vote>& votes) {
  ballot largest{};
  const auto size = static_cast<unsigned>(votes.size());
  for (unsigned rank = 0; rank < size; ++rank) {
    const auto mine = fill_ballot(votes[rank], rank, size);
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], mine[i]);
  }
  return read_ballots(largest, size);
}

TEST_CASE("the verdict of random votes") {
  std::mt19937_64 random(14);
  for (int round = 0; round < 2000; ++round) {
    std::vector<vote> votes(1 + random() % 5);
    for (auto& each : votes) {
      each.call = 7 + (random() % 8 == 0);
      each.copied = random() % 8 == 0 ? 5 : 0;
      each.phase = static_cast<save_phase>(random() % 5);
      each.has_failed = random() % 8 == 0;
      each.has_thrown = random() % 8 == 0;
      each.is_leaving = random() % 8 == 0;
      if (random() % 4 == 0) {
        each.signal = static_cast<int>(random() % 20);
        each.milliseconds_left = random();
      }
    }
    auto& leader = votes.front();
    if (random() % 2 == 0) leader.save = cairn::decision(random() % 2 == 0);
    if (random() % 2 == 0) leader.save = cairn::decision(true, static_cast<cairn::save_kind>(random() % 3));
    leader.saves_copy = random() % 2 == 0;
    leader.begun = random() % 100;
    leader.published = random();
    leader.cancels = random() % 2 == 0;
    leader.pauses = random() % 2 == 0;

    const auto all = count(votes);
    const auto any = [&](auto holds) { return std::any_of(votes.begin(), votes.end(), holds); };
    CHECK(all.is_same_call == !any([&](const vote& each) { return each.call != leader.call; }));
    CHECK(all.is_same_copy == !any([&](const vote& each) { return each.copied != leader.copied; }));
    CHECK(all.is_copied == any([](const vote& each) { return each.copied != 0; }));
    CHECK(all.has_failed == any([](const vote& each) { return each.has_failed; }));
    CHECK(all.has_thrown == any([](const vote& each) { return each.has_thrown; }));
    const auto least = [&](auto before) { return *std::min_element(votes.begin(), votes.end(), before); };
    CHECK(all.slowest == least([](const vote& a, const vote& b) { return a.phase < b.phase; }).phase);
    CHECK(all.milliseconds_left == least([](const vote& a, const vote& b) {
                                     return a.milliseconds_left < b.milliseconds_left;
                                   }).milliseconds_left);
    CHECK(all.signal == least([](const vote& a, const vote& b) { return a.signal > b.signal; }).signal);
    const auto first = std::find_if(votes.begin(), votes.end(), [](const vote& each) { return each.is_leaving; });
    REQUIRE(all.leaving.has_value() == (first != votes.end()));
    if (all.leaving) CHECK(*all.leaving == static_cast<unsigned>(first - votes.begin()));
    REQUIRE(all.save.has_value() == (leader.save && leader.save->save));
    if (all.save) CHECK((all.save->save && all.save->kind == leader.save->kind));
    CHECK(all.saves_copy == leader.saves_copy);
    CHECK(all.begun == leader.begun);
    CHECK(all.published == leader.published);
    CHECK(all.cancels == leader.cancels);
    CHECK(all.pauses == leader.pauses);
  }
}

TEST_CASE("votes that say nothing give a verdict that says nothing") {
  const auto all = count(std::vector<vote>(3));
  CHECK((all.is_same_call && all.is_same_copy && !all.is_copied && all.slowest == save_phase::none));
  CHECK((!all.has_failed && !all.has_thrown && !all.leaving && all.signal == 0 && !all.save && !all.saves_copy));
  CHECK((all.begun == 0 && all.published == 0 && !all.cancels && !all.pauses));
}

}  // namespace
