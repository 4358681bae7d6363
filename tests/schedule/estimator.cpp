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

}  // namespace

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
