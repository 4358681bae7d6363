// SPDX-License-Identifier: MIT
// What a network file system does wrong, request by request: a save meets an error of the server in any of its
// requests, also after the deed, or in all that follow; a bad sector, a full disk at close. Nothing that is published
// is harmed, and the next save does well.
#include "cairn/checkpointer.hpp"

#include <sys/wait.h>

#include "catch.hpp"
#include "durability/filesystems/lying.hpp"
#include "durability/scenarios.hpp"

namespace {

namespace fs = std::filesystem;
using durability::stage;

/// A mount that lies as NFS does, in which stages are made.
class network {
 public:
  network() {
    fs::create_directory(scratch_.path("served"));
    fs::create_directory(scratch_.path("mount"));
    mount_.emplace(scratch_.path("served"), scratch_.path("mount"));
    filesystems::tell(how(), "nfs");
    ::setenv("CAIRN_TEST_PLACE", mount_->at().c_str(), 1);
  }
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  ~network() { ::unsetenv("CAIRN_TEST_PLACE"); }

  [[nodiscard]] filesystems::lies& how() const { return mount_->how(); }
  [[nodiscard]] std::string root() const { return mount_->at() + "/run"; }

 private:
  sample::scratch scratch_{sample::in_memory()};
  std::optional<filesystems::lying_mount> mount_;
};

/// Null, with a warning, where there cannot be one.
std::unique_ptr<network> make_network() {
  try {
    return std::make_unique<network>();
  } catch (const filesystems::unavailable& cause) {
    WARN(cause.reason);
    return nullptr;
  }
}

/// An error of the server, in words.
struct fault {
  int error;
  bool lasts, is_after;
  const char* name;
};
constexpr fault faults[] = {{EIO, false, false, "EIO"},
                            {EIO, false, true, "EIO after the deed"},
                            {ESTALE, false, false, "ESTALE"},
                            {ENOSPC, true, false, "ENOSPC from then on"},
                            {EIO, true, false, "EIO from then on"}};

/// All checkpoints that are there have the bits of their steps, and `sure` is one of them, or what is newer.
std::string check(const stage& on, std::uint64_t sure) {
  std::uint64_t newest = 0;
  for (const auto step : durability::steps_in(on.root())) {
    const auto store = durability::store_at(on.root());
    const auto name = cairn::detail::checkpoint_name(step);
    auto problem = durability::compare(store, name, durability::trained(on.in(), step));
    if (!problem.empty() && on.in().replaces(step))
      problem = durability::compare(store, name, durability::trained(on.in(), step, true));
    if (!problem.empty()) return problem;
    newest = step;
  }
  return newest < sure ? "step " + std::to_string(sure) + " is gone" : std::string();
}

/// In a process of its own: the run meets the fault and goes on when it is over.
void live_through(const stage& on, filesystems::lies& how, std::uint64_t at, const fault& injected,
                  durability::testimony& told) {
  durability::performance run(on, on.enter(), told);
  how.fault_error = injected.error;
  how.fault_lasts = injected.lasts;
  how.fault_is_after = injected.is_after;
  how.faults = 0;
  run.play([&](const auto& part) {
    if (how.fault_at == 0) {  // the first part: what is restored before it is not counted
      how.requests = 0;
      how.fault_at = at;
    }
    try {
      part();
    } catch (const cairn::error& cause) {
      told.note(cause.what());
    }
  });
  how.fault_at = 0;
  if (told.errors == 0 && told.failures == 0 && told.published < on.in().saved.back())
    told.object("no error, and no checkpoint");
  if (auto problem = check(on, told.published); !problem.empty()) told.object("after the fault: " + problem);
  try {
    run.save(on.in().last() + 1);
    run.run().wait();
  } catch (const cairn::error& cause) {
    told.object(std::string("a later save: ") + cause.what());
  }
}

/// What is wrong; empty when all is well.
std::string meet(const stage& on, filesystems::lies& how, std::uint64_t at, const fault& injected) {
  const tracer::shared<durability::testimony> told;
  on.set_up();
  tests::channel said;
  const pid_t child =
      tests::start_child(said, [&](const tests::channel&) { live_through(on, how, at, injected, *told); });
  int status = 0;
  ::waitpid(child, &status, 0);
  how.fault_at = 0;
  const auto next = on.in().last() + 1;
  {
    cairn::checkpointer fresh(on.root(), on.in().options());
    if (auto problem = durability::later_save_problem(on, *told, status, fresh); !problem.empty()) return problem;
    fresh.save(durability::trained(on.in(), next + 1), {.step = next + 1});
    fresh.wait();
  }
  if (auto left = durability::half_done_in(on.root()); !left.empty()) return left;
  return check(on, next + 1);
}

constexpr const char* scenarios[] = {"first", "replace", "delta", "merge", "prune deltas", "resume"};

}  // namespace

TEST_CASE("a server's error in any request of a save") {
  const auto there = make_network();
  if (!there) SKIP("no network");
  auto& how = there->how();
  const std::uint64_t step = durability::is_long() ? 1 : 83;
  std::size_t runs = 0, met = 0, wrong = 0;
  for (const auto* name : scenarios)
    for (const bool durable : {true, false}) {
      const stage on(durability::make_scenario(name, durable, false));
      std::size_t kind = 0;
      for (const auto& each : faults)
        for (std::uint64_t at = 1 + ++kind * 5 % step;; at += step) {
          std::string problem;
          try {
            problem = meet(on, how, at, each);
          } catch (const std::exception& cause) {
            problem = cause.what();
          }
          ++runs;
          met += how.faults > 0;
          wrong += !problem.empty();
          if (!problem.empty() && wrong < 10)
            FAIL_CHECK(on.in().name << ", request " << at << ", "
                                    << filesystems::name_of(static_cast<filesystems::request>(how.fault_in.load()))
                                    << " gives " << each.name << ": " << problem);
          if (how.faults == 0) break;
        }
    }
  CHECK(wrong == 0);
  CHECK(met > 100);
  std::printf("requests: %zu runs, %zu of them with a fault, %zu wrong\n", runs, met, wrong);
}

TEST_CASE("a bad sector on a server: the older checkpoint is restored, and the damaged one is named") {
  const auto there = make_network();
  if (!there) SKIP("no network");
  std::mt19937 random(4);
  cairn::checkpointer run(there->root(), {.threads = 1});
  std::uint64_t bytes = 0;
  for (const std::uint64_t step : {1U, 2U}) {
    const auto large = chain::start(random, step * 20'000);
    bytes = run.save(large, {.step = step}).bytes;
  }
  there->how().bad_byte = static_cast<std::int64_t>(bytes * 3 / 4);  // the smaller, older checkpoint ends before it
  chain::state restored;
  const auto report = run.restore(restored);
  there->how().bad_byte = -1;
  REQUIRE(report);
  CHECK(report->step == 1);
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped.front().reason.find("cannot be read at byte") != std::string::npos);
}

TEST_CASE("a server that is full when files are closed or flushed: the save fails, and nothing else") {
  const auto there = make_network();
  if (!there) SKIP("no network");
  const bool durable = GENERATE(true, false);
  std::mt19937 random(4);
  auto state = chain::start(random, 5000);
  const auto root = there->root();
  cairn::checkpointer run(root, {.durable = durable, .threads = 1});
  run.save(state, {.step = 1});
  const auto first = chain::bits_of(state);
  chain::train(state, random);
  there->how().full_at_close = true;
  const auto failure = sample::failure_of([&] { run.save(state, {.step = 2}); });
  there->how().full_at_close = false;
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says("No space left"));
  chain::state restored;
  REQUIRE(run.restore(restored));
  CHECK(chain::bits_of(restored) == first);
  run.save(state, {.step = 2});
  REQUIRE(run.restore(restored));
  CHECK(chain::bits_of(restored) == chain::bits_of(state));
}
