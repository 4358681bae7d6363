// SPDX-License-Identifier: MIT
// The crash matrix: a process that saves is killed at every one of its system calls; what it had published is there,
// whole, and the next save goes on from it.
#include <iostream>

#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "durability/scenarios.hpp"

namespace fs = std::filesystem;

namespace {

using durability::scenario;
using durability::stage;

/// Says at the end of the program what has been done.
struct tally {
  std::uint64_t kills = 0, scenarios = 0, failures = 0;

  tally() = default;
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;
  ~tally() {
    if (scenarios == 0) return;
    std::cout << "crash matrix: " << kills << " kill points in " << scenarios << " scenarios, ";
    if (failures == 0)
      std::cout << "all restored" << std::endl;
    else
      std::cout << failures << " not restored" << std::endl;
  }
};
tally total;  // NOLINT

/// What readers get of every step that an undisturbed run has at some time; two of a step that is saved again.
using record = std::map<std::uint64_t, std::vector<chain::bits>>;

void read_all(const stage& on, record& into) {
  const auto store = durability::store_at(on.root());
  for (const auto step : durability::steps_in(on.root())) {
    auto bits = chain::restored(store, durability::name_in(on.root(), step));
    auto& known = into[step];
    if (known.empty() || known.back() != bits) known.push_back(std::move(bits));
  }
}

record undisturbed(const stage& on) {
  record all;
  durability::testimony told;
  on.set_up();
  read_all(on, all);
  durability::performance whole(on, on.root(), told);
  whole.play([&](const auto& part) {
    part();
    whole.run().wait();  // merging and removing go on after every kind of save
    read_all(on, all);
  });
  told.end_child();
  return all;
}

/// What is wrong with having restored `name`, or nothing where it is empty.
std::string is_too_old(const scenario& in, const durability::testimony& told, const std::string& name) {
  const auto step = cairn::detail::parse_checkpoint_name(name).value_or(0);
  const std::uint64_t published = told.published;
  auto least = std::max(scenario::newest(in.prepared), published);
  if (in.on_older_step == cairn::when_older::replace) least = published;  // what is later is removed before the save
  if (step < least) return "restored \"" + name + "\", but " + std::to_string(least) + " was published";
  return {};
}

/// What is wrong with what a killed process left; empty when all is well. The next save is one of the step after what
/// was restored, which may be the one that was killed, or of another step.
std::string after_the_crash(const stage& on, const durability::testimony& told, const record& before, bool of_another) {
  const auto& in = on.in();
  std::uint64_t step = 0;
  {
    cairn::checkpointer fresh(on.root(), in.options());
    auto state = durability::trained(in, 0);
    const auto report = fresh.restore(state, {.threads = 1});
    if (auto problem = is_too_old(in, told, report ? report->name : ""); !problem.empty()) return problem;
    if (report) {
      if (!report->skipped.empty()) return "passed over: " + report->skipped.front().reason;
      const auto& known = before.at(report->step);
      const auto bits = chain::bits_of(state);
      const bool is_new = bits == known.back();
      if (!is_new && bits != known.front()) return report->name + " has other bits";
      if (told.published == report->step && !is_new) return report->name + " is the one that was replaced";
      step = report->step;
    }
    const auto all = durability::steps_in(on.root());
    for (const auto there : all) {
      const auto name = durability::name_in(on.root(), there);
      const auto& known = before.at(there);
      const auto bits = chain::restored(fresh.store(), name);
      if (bits != known.back() && bits != known.front()) return name + " reads other bits";
    }
    step = of_another ? std::max(in.last(), step) + 1 : step + 1;
    fresh.save(durability::trained(in, step), {.step = step});
    fresh.wait();
  }
  if (auto left = durability::half_done_in(on.root()); !left.empty()) return left;
  if (auto lost = on.lost_notes(); !lost.empty()) return lost;
  cairn::checkpointer next(on.root(), in.options());
  auto state = durability::trained(in, 0);
  const auto report = next.restore(state, {.threads = 1});
  if (!report || report->step != step || !report->skipped.empty()) return "the next save cannot be restored";
  return durability::compare(next.store(), report->name, durability::trained(in, step));
}

/// One run that is killed at call `n`; false when it makes fewer calls.
template <class Say>
bool kill_at(const stage& on, std::uint64_t n, const record& before, const Say& say) {
  const tracer::shared<durability::testimony> told;
  on.set_up();
  const auto result = tracer::run({tracer::plan::kind::kill, n}, [&] {
    durability::performance killed(on, on.enter(), *told);
    killed.play([](const auto& part) { part(); });
    killed.close();
  });
  std::string problem;
  if (result.faults > 0 ? !result.was_killed() : !result.has_ended_well())
    problem = "the process ended with status " + std::to_string(result.status);
  try {
    if (problem.empty()) problem = after_the_crash(on, *told, before, n % 4 < 2);
  } catch (const std::exception& cause) {
    problem = cause.what();
  }
  told->end_child();
  if (!problem.empty()) say("killed at call " + std::to_string(n) + ", " + tracer::name_of(result.at) + ": " + problem);
  return result.faults > 0;
}

/// The calls of the scenario that change names, as they are counted for a kill.
std::vector<std::uint64_t> changes_of(const stage& on) {
  static const std::set<std::string> changing{"mkdirat", "unlinkat", "renameat", "renameat2"};
  const tracer::shared<durability::testimony> told;
  on.set_up();
  const auto result = tracer::run({}, [&] {
    durability::performance whole(on, on.enter(), *told);
    whole.play([](const auto& part) { part(); });
    whole.close();
  });
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < result.calls.size(); ++i)
    if (changing.contains(tracer::name_of(result.calls[i]))) all.push_back(i + 1);
  return all;
}

/// A run that is killed at call `first`, and another one that finds what is left, goes on, and is killed at call
/// `second`; false when that makes fewer calls.
template <class Say>
bool kill_twice(const stage& on, std::uint64_t first, std::uint64_t second, record before, const Say& say) {
  const tracer::shared<durability::testimony> told;
  const auto kill = tracer::plan::kind::kill;
  on.set_up();
  static_cast<void>(tracer::run({kill, first}, [&] {
    durability::performance killed(on, on.enter(), *told);
    killed.play([](const auto& part) { part(); });
    killed.close();
  }));
  const auto next = on.in().last() + 1;
  const auto result = tracer::run({kill, second}, [&] {
    const auto root = on.enter();
    tracer::begin();
    durability::performance recovering(on, root, *told);
    recovering.restore();
    recovering.save(next);
    recovering.run().wait();
    recovering.close();
  });
  std::string problem;
  if (result.faults > 0 ? !result.was_killed() : !result.has_ended_well())
    problem = "the second process ended with status " + std::to_string(result.status);
  try {
    if (problem.empty()) {
      const auto there = durability::steps_in(on.root());
      const auto name = durability::name_in(on.root(), next);
      if (std::find(there.begin(), there.end(), next) !=
          there.end()) {  // what it has depends on what was restored before it
        problem = durability::compare(durability::store_at(on.root()), name, durability::trained(on.in(), next));
        before[next] = {chain::restored(durability::store_at(on.root()), name)};
      }
    }
    if (problem.empty()) problem = after_the_crash(on, *told, before, second % 4 < 2);
  } catch (const std::exception& cause) {
    problem = cause.what();
  }
  if (!problem.empty())
    say("killed at call " + std::to_string(first) + ", and the next process at its call " + std::to_string(second) +
        ", " + tracer::name_of(result.at) + ": " + problem);
  return result.faults > 0;
}

void kill_in_recovery(const std::string& name) {
  const tracer::shared<std::atomic<std::uint64_t>> kills;
  const auto problems = durability::divide([&](unsigned first, unsigned stride, const auto& say) {
    const stage on(durability::make_scenario(name, true, false));
    const auto before = undisturbed(on);
    const auto changes = changes_of(on);
    const std::uint64_t step = durability::is_long() ? 1 : 41 * durability::every();
    const auto begin = durability::begin_of(name) % std::min<std::uint64_t>(step, 41);
    for (std::size_t i = first; i < changes.size(); i += stride * (durability::every() == 1 ? 1U : 4U))
      for (std::uint64_t n = 1 + (begin + i * 7) % step; kill_twice(on, changes[i], n, before, say); n += step)
        ++*kills;
  });
  for (const auto& problem : problems) FAIL_CHECK(name << ": " << problem);
  CHECK(*kills > (durability::every() == 1 ? 10 : 0));
  total.kills += *kills;
  total.failures += problems.size();
  ++total.scenarios;
}

void kill_everywhere(const std::string& name, bool durable, bool behind) {
  const tracer::shared<std::atomic<std::uint64_t>> kills;
  const auto problems = durability::divide([&](unsigned first, unsigned stride, const auto& say) {
    const stage on(durability::make_scenario(name, durable, behind));
    const auto before = undisturbed(on);
    const auto every = durability::every_of(on.in());
    const auto begin = durability::begin_of(on.in().name) % std::min(every, 20U) * stride;
    for (std::uint64_t n = first + 1 + begin; kill_at(on, n, before, say); n += std::uint64_t{stride} * every) ++*kills;
  });
  for (const auto& problem : problems) FAIL_CHECK(name << ": " << problem);
  CHECK(*kills > (durability::every() == 1 ? 20 : 0));
  total.kills += *kills;
  total.failures += problems.size();
  ++total.scenarios;
}

void kill_everywhere(const std::string& name) {
  SECTION("durable") { kill_everywhere(name, true, false); }
  SECTION("plain") { kill_everywhere(name, false, false); }
  SECTION("durable, in the background") { kill_everywhere(name, true, true); }
  SECTION("plain, in the background") { kill_everywhere(name, false, true); }
}

void kill_in_background(const std::string& name) {
  SECTION("durable") { kill_everywhere(name, true, true); }
  SECTION("plain") { kill_everywhere(name, false, true); }
}

TEST_CASE("killed while it saves the first checkpoint") { kill_everywhere("first"); }
TEST_CASE("killed while it saves a whole checkpoint") { kill_everywhere("full"); }
TEST_CASE("killed while it replaces a checkpoint") { kill_everywhere("replace"); }
TEST_CASE("killed while it saves deltas") { kill_everywhere("delta"); }
TEST_CASE("killed while it merges deltas") { kill_everywhere("merge"); }
TEST_CASE("killed while it removes old checkpoints") { kill_everywhere("prune"); }
TEST_CASE("killed while it removes checkpoints with a file of somebody else") { kill_everywhere("prune notes"); }
TEST_CASE("killed while it removes an old chain") { kill_everywhere("prune deltas"); }
TEST_CASE("killed while it writes several files at a time") { kill_everywhere("threads"); }
TEST_CASE("killed while it saves in parts") { kill_in_background("parts"); }
TEST_CASE("killed while a save cancels the one before") { kill_in_background("cancelled"); }
TEST_CASE("killed while another run replaces what is there") { kill_everywhere("older"); }
TEST_CASE("killed while a save replaces the notes of a checkpoint") { kill_in_background("ended"); }
TEST_CASE("killed while a child lives on") { kill_everywhere("forked"); }
TEST_CASE("killed, and the next process too") {
  for (const auto* name : {"replace", "merge", "prune deltas", "older"}) kill_in_recovery(name);
}

/// Calls `act` in a process that is killed at every one of its calls, in a place that `set_up` makes, and `check` after
/// each.
template <class SetUp, class Act, class Check>
void kill_at_each_call(const SetUp& set_up, const Act& act, const Check& check) {
  std::uint64_t n = 1;
  for (bool is_killed = true; is_killed; ++n) {
    set_up();
    const auto result = tracer::run({tracer::plan::kind::kill, n}, [&] {
      tracer::begin();
      act();
      tracer::end();
    });
    is_killed = result.faults > 0;
    INFO("killed at call " << n << ", " << tracer::name_of(result.at));
    CHECK((is_killed ? result.was_killed() : result.has_ended_well()));
    check();
    ++total.kills;
  }
  CHECK(n > 20);
  ++total.scenarios;
}

}  // namespace

// A crash between the publishing of the newer generation and the removal of the older one leaves two.
TEST_CASE("killed while it removes a checkpoint of two generations") {
  const sample::scratch place(durability::place());
  const auto root = place.path("root");
  const bool durable = GENERATE(true, false);
  const auto store = [&] { return cairn::any_store(cairn::stores::directory(root, {.durable = durable})); };
  const auto rename = [&](const std::string& from, const std::string& to) {
    std::error_code late;  // that of a request which NFS has sent twice
    fs::rename(root + from, root + to, late);
    REQUIRE(fs::exists(root + to));
  };
  const auto set_up = [&] {
    durability::remove_all(root);
    cairn::save(store(), "step-000000001", 2, {.step = 1});
    rename("/step-000000001", "/step-000000001~2");
    cairn::save(cairn::stores::directory(root + "/older"), "step-000000001", 1, {.step = 1});
    rename("/older/step-000000001", "/step-000000001");
    fs::remove(root + "/older");
  };
  const auto check = [&] {
    for (const bool is_owned : {false, true}) {
      const auto owned = is_owned ? store().lock() : nullptr;
      int found = 2;  // never 1
      if (!store().list().empty()) cairn::load(store(), "step-000000001", found);
      CHECK(found == 2);
    }
    const auto left = durability::half_done_in(root);
    CHECK((left.empty() || left == ".lock is left"));
  };
  kill_at_each_call(set_up, [&] { store().remove("step-000000001"); }, check);
}

TEST_CASE("killed while it saves by a path") {
  const sample::scratch place(durability::place());
  const auto path = place.path("run/once");
  const bool durable = GENERATE(true, false);
  const auto set_up = [&] {
    durability::remove_all(place.path("run"));
    cairn::save(path, 1);
  };
  const auto check = [&] {
    int found = 0;
    cairn::load(path, found);
    CHECK((found == 1 || found == 2));
    CHECK(cairn::open(path).step() == 0);
    cairn::save(path, 3);
    CHECK(sample::names_in(place.path("run")) == std::vector<std::string>{"once"});
    cairn::load(path, found);
    CHECK(found == 3);
  };
  kill_at_each_call(set_up, [&] { cairn::save(path, 2, {.durable = durable}); }, check);
}
TEST_CASE("killed while it restores and goes on") {
  if (durability::is_long()) kill_everywhere("resume");
}
