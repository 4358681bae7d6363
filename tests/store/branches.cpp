// SPDX-License-Identifier: MIT
#include "cairn/store/branches.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

using cairn::detail::checkpoint_name;
using cairn::detail::history_of;
using cairn::detail::run_branch;
using names = std::vector<std::string>;

namespace {

/// Runs in one place: what each has in its history is kept beside.
struct place {
  std::vector<run_branch> branches{{}};
  std::vector<std::vector<std::uint64_t>> saved{{}};  // by branch
  std::vector<names> history{{}};                     // by branch, without what it saved

  [[nodiscard]] names all() const {
    names made;
    for (std::size_t i = 0; i < branches.size(); ++i)
      for (const auto step : saved[i]) made.push_back(checkpoint_name(step, branches[i]));
    std::sort(made.begin(), made.end(), cairn::checkpoint_before);
    return made;
  }
  [[nodiscard]] names history_of(std::size_t branch) const {
    auto made = history[branch];
    for (const auto step : saved[branch]) made.push_back(checkpoint_name(step, branches[branch]));
    return made;
  }
};

}  // namespace

TEST_CASE("the history of a branch is what it saved, and what its ancestors had saved when it branched off") {
  std::mt19937 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    place here;
    const auto branches = random() % 5;
    for (std::size_t number = 0;; ++number) {
      std::uint64_t step = 0;
      if (const auto& from = here.branches.back().from) step = from->step;
      for (auto count = 1 + random() % 4; count > 0; --count) here.saved.back().push_back(step += 1 + random() % 3);
      if (number == branches) break;
      // The next branch continues from any checkpoint in the history of the newest one, or anew.
      const auto before = here.history_of(number);
      run_branch next{number + 1, {}};
      names kept;
      if (const auto at = random() % (before.size() + 1); at < before.size()) {
        next.from = {cairn::detail::parse_branch(before[at]).number, *cairn::detail::parse_checkpoint_name(before[at])};
        kept.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
      here.branches.push_back(next);
      here.saved.emplace_back();
      here.history.push_back(kept);
    }
    auto all = here.all();
    auto expected = here.history_of(here.branches.size() - 1);
    CHECK(history_of(all) == expected);
    CHECK(cairn::detail::newest_branch(all) == here.branches.back());

    // Where checkpoints are missing, as after retention, no other ones take their place; nor is any lost as long as each branch has one.
    names some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](auto& name) { return name == all.back() || random() % 3 != 0; });
    names left;
    std::set_intersection(some.begin(), some.end(), expected.begin(), expected.end(), std::back_inserter(left),
                          cairn::checkpoint_before);
    std::set<std::uint64_t> numbers;
    for (const auto& name : some) numbers.insert(cairn::detail::parse_branch(name).number);
    const auto history = history_of(some);
    CHECK(std::includes(left.begin(), left.end(), history.begin(), history.end(), cairn::checkpoint_before));
    if (numbers.size() == here.branches.size()) CHECK(history == left);
  }
}

TEST_CASE("names without a step are of no branch") {
  const names all{"best", "last", checkpoint_name(1), checkpoint_name(3), checkpoint_name(2, {1, {{0, 1}}})};
  CHECK(history_of(all) == names{"best", "last", checkpoint_name(1), checkpoint_name(2, {1, {{0, 1}}})});
  CHECK(history_of(names{}).empty());
  CHECK(history_of(names{"best"}) == names{"best"});
  CHECK(cairn::detail::newest_branch({"best"}) == run_branch());
}

TEST_CASE("what would be left of the newest branch") {
  using cairn::detail::would_end_branch;
  CHECK_FALSE(would_end_branch({"best", checkpoint_name(1), checkpoint_name(3)}, {}));  // the first run is no branch
  const names all{checkpoint_name(1), checkpoint_name(3), checkpoint_name(2, {1, {{0, 1}}}),
                  checkpoint_name(4, {1, {{0, 1}}})};
  CHECK(would_end_branch(all, {}));
  for (const std::uint64_t last : {0U, 1U, 2U, 3U, 4U}) CHECK(would_end_branch(all, last) == (last < 2));
}

TEST_CASE("a link is the last checkpoint of a branch that is neither the oldest nor the newest one of the history") {
  const names history{checkpoint_name(1),
                      checkpoint_name(2),
                      checkpoint_name(3, {1, {{0, 2}}}),
                      checkpoint_name(4, {1, {{0, 2}}}),
                      checkpoint_name(5, {2, {{1, 4}}}),
                      checkpoint_name(6, {2, {{1, 4}}})};
  for (auto at = history.begin(); at != history.end(); ++at)
    CHECK(cairn::detail::is_link(history, at) == (*at == history[3]));
  const names rest(history.begin() + 3, history.end());  // nothing older is left that it could lead to
  CHECK_FALSE(cairn::detail::is_link(rest, rest.begin()));
}
