// SPDX-License-Identifier: MIT
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

/// Gives a kind, and has all optional members.
struct talkative {
  std::string heard;

  cairn::decision should_save(const cairn::moment& now) { return {now.step > 3, cairn::save_kind::delta}; }
  void saved(const cairn::save_cost& cost) { heard += "saved " + std::to_string(cost.step) + ' '; }
  void restarted(const cairn::restart& how) { heard += "restarted " + std::to_string(how.step) + ' '; }
  cairn::policy_memory remember() const { return {{"length", {static_cast<double>(heard.size())}}}; }
  void recall(const cairn::policy_memory& kept) { heard += std::to_string(kept.size()) + " recalled "; }
};

/// Is asked by value and on const objects.
struct always {
  bool should_save(cairn::moment) const { return true; }
};

/// Has members of its own with names that are close to the optional ones.
struct own_names : talkative {
  bool restarts = false;
  void save(const cairn::save_cost&) {}
  cairn::policy_memory memory() const { return {}; }
};
struct own_data {
  bool saved = false, recall = false;
  int save = 0;
  bool should_save(const cairn::moment&) const { return saved; }
};

struct answers_maybe {
  std::optional<cairn::save_kind> should_save(const cairn::moment&) { return {}; }
};

cairn::moment with_loss(double loss) { return {.loss = loss}; }

static_assert(cairn::policy<on_progress>);
static_assert(cairn::policy<cairn::any_policy>);
static_assert(!cairn::policy<int>);
static_assert(!cairn::policy<answers_nothing>);
static_assert(cairn::observes_saves<talkative> && cairn::observes_restarts<talkative> && cairn::remembers<talkative>);
static_assert(!cairn::observes_saves<always> && !cairn::observes_restarts<always> && !cairn::remembers<always>);
static_assert(cairn::policy<talkative> && cairn::policy<always> && !cairn::policy<answers_maybe>);
static_assert(!cairn::policy<std::unique_ptr<on_progress>>);
static_assert(std::is_convertible_v<bool, cairn::decision> && !std::is_convertible_v<cairn::decision, bool>);
static_assert(!cairn::decision(false) && cairn::decision(true) && !cairn::decision(true).kind);
static_assert(*cairn::decision(false, cairn::save_kind::raw).kind == cairn::save_kind::raw);

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

TEST_CASE("a policy answers with yes or no, or with a kind too") {
  cairn::any_policy chosen = on_progress{};
  CHECK_FALSE(chosen.should_save(with_loss(0.5)).kind);
  chosen = talkative{};
  CHECK_FALSE(chosen.should_save({.step = 3}).save);
  CHECK(chosen.should_save({.step = 4}).save);
  CHECK(chosen.should_save({.step = 4}).kind == cairn::save_kind::delta);
  chosen = always{};
  CHECK(chosen.should_save({}).save);
}

TEST_CASE("a policy with all optional members: each is called") {
  talkative alone;
  cairn::any_policy chosen = alone;
  chosen.recall({{"a", {1}}, {"b", {}}});
  chosen.restarted({.step = 7});
  chosen.saved({.step = 8});
  chosen.saved({.step = 9});
  const auto heard = std::string("2 recalled restarted 7 saved 8 saved 9 ");
  CHECK(chosen.remember() == cairn::policy_memory{{"length", {static_cast<double>(heard.size())}}});
  CHECK(chosen.uses_restarts());
  CHECK(alone.heard.empty());
}

TEST_CASE("a policy without optional members ignores saves and restarts, and remembers nothing") {
  cairn::any_policy chosen = on_progress{};
  chosen.recall({{"best", {0.1}}});
  chosen.restarted({});
  chosen.saved({});
  CHECK(chosen.remember().empty());
  CHECK_FALSE(chosen.uses_restarts());
  CHECK(chosen.should_save(with_loss(0.5)).save);
}

TEST_CASE("a policy may have members of its own with similar names") {
  cairn::any_policy chosen = own_names{};
  chosen.saved({.step = 1});
  CHECK(chosen.remember().at("length") == std::vector<double>{8});
  chosen = own_data{};
  chosen.saved({.step = 1});
  CHECK_FALSE(chosen.should_save({}));
}

TEST_CASE("an any_policy of an any_policy is a copy of it, and may be assigned to itself") {
  cairn::any_policy first = on_progress{};
  (void)first.should_save(with_loss(0.5));
  cairn::any_policy second(first);
  const auto& itself = second;
  second = itself;
  CHECK_FALSE(second.should_save(with_loss(0.5)).save);
  CHECK(second.should_save(with_loss(0.25)).save);
  CHECK(first.should_save(with_loss(0.25)).save);
}

struct cost {};

struct overloaded {
  void saved(int) {}
  void saved(const char*) {}
};
struct generic {
  template <class T>
  void saved(T) {}
};
class hidden {
  [[maybe_unused]] void saved(const cost&) {}
};
struct inherited : hidden {};
struct last final {
  void saved() {}
};
struct last_none final {};

}  // namespace

using cairn::detail::has_function_saved;
static_assert(!has_function_saved<last_none> && !has_function_saved<own_data>);
static_assert(has_function_saved<overloaded> && has_function_saved<generic>);
static_assert(has_function_saved<hidden> && has_function_saved<inherited> && has_function_saved<last>);
static_assert(!cairn::detail::has_function_recall<last> && !cairn::detail::has_function_remember<last> &&
              !cairn::detail::has_function_restarted<last>);
