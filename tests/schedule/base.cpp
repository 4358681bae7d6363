#include "cairn/schedule/base.hpp"

#include "catch.hpp"

namespace {

/// Saves when the loss has fallen by half since it last said so.
struct on_progress {
  double best = 1;

  bool should_save(const cairn::moment& now) {
    if (!now.loss || *now.loss > best / 2) return false;
    best = *now.loss;
    return true;
  }
};

struct answers_nothing {
  void should_save(const cairn::moment&) {}
};

cairn::moment with_loss(double loss) { return {.loss = loss}; }

}  // namespace

static_assert(cairn::policy<on_progress>);
static_assert(cairn::policy<cairn::any_policy>);
static_assert(!cairn::policy<int>);
static_assert(!cairn::policy<answers_nothing>);

TEST_CASE("a policy of the user's own plugs in, and may have a memory") {
  cairn::any_policy chosen = on_progress{};
  CHECK_FALSE(chosen.should_save({}));
  CHECK_FALSE(chosen.should_save(with_loss(0.75)));
  CHECK(chosen.should_save(with_loss(0.5)));
  CHECK_FALSE(chosen.should_save(with_loss(0.5)));
  CHECK(chosen.should_save(with_loss(0.25)));
}

TEST_CASE("a copy of a policy remembers for itself") {
  cairn::any_policy first = on_progress{};
  auto second = first;
  CHECK(first.should_save(with_loss(0.5)));
  CHECK(second.should_save(with_loss(0.5)));
  second = std::move(first);
  CHECK_FALSE(second.should_save(with_loss(0.5)));
}
