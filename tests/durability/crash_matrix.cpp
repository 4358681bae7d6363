// The crash matrix: a process that saves is killed at every one of its system calls; what it had published is there,
// whole, and the next save goes on from it.
#include <atomic>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "catch.hpp"
#include "durability/scenarios.hpp"

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
    auto bits = chain::restored(store, cairn::detail::checkpoint_name(step));
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
  return all;
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
    const std::uint64_t least = std::max(scenario::newest(in.prepared), told.published.load());
    if (!report && least > 0) return "nothing was restored";
    if (report) {
      if (!report->skipped.empty()) return "passed over: " + report->skipped.front().reason;
      if (report->step < least) return "restored " + report->name + ", but " + std::to_string(least) + " was published";
      const auto& known = before.at(report->step);
      const auto bits = chain::bits_of(state);
      const bool is_new = bits == known.back();
      if (!is_new && bits != known.front()) return report->name + " has other bits";
      if (told.published == report->step && !is_new) return report->name + " is the one that was replaced";
      step = report->step;
    }
    for (const auto there : durability::steps_in(on.root())) {
      const auto name = cairn::detail::checkpoint_name(there);
      const auto& known = before.at(there);
      const auto bits = chain::restored(fresh.store(), name);
      if (bits != known.back() && bits != known.front()) return name + " reads other bits";
    }
    step = of_another ? in.last() + 1 : step + 1;
    fresh.save(durability::trained(in, step), {.step = step});
    fresh.wait();
  }
  if (auto left = durability::half_done_in(on.root()); !left.empty()) return left;
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
  if (!problem.empty()) say("killed at call " + std::to_string(n) + ", " + tracer::name_of(result.at) + ": " + problem);
  return result.faults > 0;
}

void kill_everywhere(const std::string& name, bool durable, bool behind) {
  const tracer::shared<std::atomic<std::uint64_t>> kills;
  const auto problems = durability::divide([&](unsigned first, unsigned stride, const auto& say) {
    const stage on(durability::make_scenario(name, durable, behind));
    const auto before = undisturbed(on);
    const auto step = stride * durability::every();
    // Every scenario begins at another point, so that those that do nearly the same are killed at different ones.
    const auto begin = std::hash<std::string>()(on.in().name) % durability::every() * stride;
    for (std::uint64_t n = first + 1 + begin; kill_at(on, n, before, say); n += step) ++*kills;
  });
  for (const auto& problem : problems) FAIL_CHECK(name << ": " << problem);
  CHECK(*kills * durability::every() > 20);
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

}  // namespace

TEST_CASE("killed while it saves the first checkpoint") { kill_everywhere("first"); }
TEST_CASE("killed while it saves a whole checkpoint") { kill_everywhere("full"); }
TEST_CASE("killed while it replaces a checkpoint") { kill_everywhere("replace"); }
TEST_CASE("killed while it replaces a checkpoint and cannot exchange names") {
  kill_everywhere("replace with plain renames");
}
TEST_CASE("killed while it merges deltas and cannot exchange names") { kill_everywhere("merge with plain renames"); }
TEST_CASE("killed while it saves deltas") { kill_everywhere("delta"); }
TEST_CASE("killed while it merges deltas") { kill_everywhere("merge"); }
TEST_CASE("killed while it removes old checkpoints") { kill_everywhere("prune"); }
TEST_CASE("killed while it removes an old chain") { kill_everywhere("prune deltas"); }
TEST_CASE("killed while it restores and goes on") {
  if (durability::is_long()) kill_everywhere("resume");
}
