// SPDX-License-Identifier: MIT
// The fault matrix: every system call about files fails or comes short. No crash, no hang, no success that is
// none, no harm to what is published; the next save does well.
#include <iostream>

#include "cairn/system/parallel.hpp"
#include "catch.hpp"
#include "durability/scenarios.hpp"

namespace {

using durability::scenario;
using durability::stage;
using tracer::plan;

struct tally {
  std::uint64_t faults = 0, calls = 0, scenarios = 0, surfaced = 0;

  tally() = default;
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;
  ~tally() {
    if (scenarios == 0) return;
    std::cout << "fault matrix: " << faults << " faults in " << calls << " calls of " << scenarios << " scenarios, "
              << surfaced << " of them errors of a save" << std::endl;
  }
};
tally total;  // NOLINT

/// One fault, in words.
struct fault {
  plan::kind what = plan::kind::fail;
  int error = 0;
  std::string_view name;
};

constexpr fault faults[] = {
    // What the system says where it lacks something else than the disk, or the file is not what it was. Every second
    // call has one of them, in the long tests each has all.
    {plan::kind::fail, EINVAL, "EINVAL"},  {plan::kind::fail, ESTALE, "ESTALE"},
    {plan::kind::fail, EMFILE, "EMFILE"},  {plan::kind::fail, ENOMEM, "ENOMEM"},
    {plan::kind::fail, EACCES, "EACCES"},  {plan::kind::fail, EIO, "EIO"},
    {plan::kind::fail, ENOSPC, "ENOSPC"},  {plan::kind::fail, EDQUOT, "EDQUOT"},
    {plan::kind::fail, EINTR, "EINTR"},    {plan::kind::fail_after, EIO, "EIO after the deed"},
    {plan::kind::shorten, 0, "half of it"}};

/// Whether a call is repeated when a signal interrupts it.
bool is_repeated(const tracer::call& at) {
  static const std::set<std::string> repeated{"openat",  "read",      "write", "pread64",   "pwrite64",
                                              "pwritev", "ftruncate", "fsync", "fallocate", "flock"};
  return repeated.contains(tracer::name_of(at));
}

/// Whether a fault has to stay without effect on the save.
bool is_invisible(const tracer::call& at, const fault& injected) {
  if (injected.what == plan::kind::shorten) return true;
  static const std::set<std::string> advisory{"madvise", "fadvise64"};
  const auto name = tracer::name_of(at);
  if (injected.what == plan::kind::fail_after) return name.starts_with("rename");
  return advisory.contains(name) || (injected.error == EINTR && is_repeated(at));
}

/// Whether a save has another way: without direct I/O, without reserved space, with a lock of its own that nobody has
/// deleted.
bool is_answered_otherwise(const tracer::call& at, const fault& injected) {
  const auto name = tracer::name_of(at);
  if (injected.error == EINVAL) return name == "openat" || name == "pwrite64" || name == "fallocate" || name == "fsync";
  return injected.error == ESTALE && (name == "openat" || name == "fsync" || name == "pwrite64");
}

/// Whether a fault must be reported: a write failed, or a wait for the disk. `before_rename` of the checkpoint, in a
/// process that reads no other one, also an open: the save then opens only what it needs.
bool has_to_surface(const tracer::outcome& result, const fault& injected, bool before_rename) {
  static const std::set<std::string> essential{"pwrite64", "pwritev", "ftruncate", "fsync", "fallocate"};
  if (injected.what != plan::kind::fail || injected.error == EINTR) return false;
  if (is_answered_otherwise(result.at, injected)) return false;
  const auto name = tracer::name_of(result.at);
  const bool is_of_kernel = result.path.starts_with("/sys/") || result.path.starts_with("/proc/");  // cores, processes
  const bool is_way = name == "openat" && before_rename && !is_of_kernel;
  return essential.contains(name) || is_way;
}

/// What is wrong with the directory, where `sure` have been published; empty when all is well. Retention may have
/// removed what is older than the newest ones that it keeps.
std::string check(const stage& on, const std::set<std::uint64_t>& sure) {
  const auto& in = on.in();
  const auto store = durability::store_at(on.root());
  const auto there = durability::steps_in(on.root());
  for (const auto step : there) {
    const auto name = durability::name_in(on.root(), step);
    try {
      auto problem = durability::compare(store, name, durability::trained(in, step));
      if (!problem.empty() && in.replaces(step))
        problem = durability::compare(store, name, durability::trained(in, step, true));
      if (!problem.empty()) return problem;
    } catch (const cairn::error& cause) {
      return cause.what();
    }
  }
  const bool removes = in.keep_last && there.size() >= *in.keep_last;
  const auto oldest = removes                          ? there[there.size() - *in.keep_last]
                      : in.keep_last && !there.empty() ? there.front()
                                                       : 0;
  for (const auto step : sure)
    if (step >= oldest && !std::binary_search(there.begin(), there.end(), step))
      return cairn::detail::checkpoint_name(step) + " is gone";
  return {};
}

std::set<std::uint64_t> sure_of(const stage& on, const durability::testimony& told) {
  std::set<std::uint64_t> sure;
  // Another run removes what is there before its first save.
  if (on.in().on_older_step != cairn::when_older::replace)
    sure.insert(on.in().prepared.begin(), on.in().prepared.end());
  for (std::uint64_t step = 0; step < 64; ++step)
    if ((told.returned >> step & 1) != 0) sure.insert(step);
  return sure;
}

/// The traced process: meets the fault, and then goes on.
void live_through(const stage& on, durability::testimony& told) {
  durability::performance run(on, on.enter(), told);
  run.play([&](const auto& part) {
    try {
      part();
    } catch (const cairn::error& cause) {
      told.note(cause.what());
    } catch (const std::exception& cause) {
      told.object(std::string("an exception of another kind: ") + cause.what());
    }
  });
  tracer::end();
  const auto published = told.published.load();
  if (!on.in().behind && published != 0 && (told.returned >> published & 1) == 0)
    told.object("a save that was published has thrown");
  if (auto problem = check(on, sure_of(on, told)); !problem.empty()) told.object("after the fault: " + problem);
  try {
    run.save(on.in().last() + 1);
    run.run().wait();
  } catch (const cairn::error& cause) {
    told.object(std::string("a later save: ") + cause.what());
  }
  if (auto problem = check(on, sure_of(on, told)); !problem.empty()) told.object("after a later save: " + problem);
}

/// What is wrong with what the process left; empty when all is well.
std::string after_the_fault(const stage& on, const durability::testimony& told) {
  const auto& in = on.in();
  const auto step = in.last() + 1;
  {
    cairn::checkpointer fresh(on.root(), in.options());
    auto state = durability::trained(in, 0);
    const auto report = fresh.restore(state, {.threads = 1});
    if (!report || report->step != step) return "the later save is not restored";
    if (!report->skipped.empty()) return "passed over: " + report->skipped.front().reason;
    fresh.save(durability::trained(in, step + 1), {.step = step + 1});
    fresh.wait();
  }
  if (auto left = durability::half_done_in(on.root()); !left.empty()) return left;
  auto sure = sure_of(on, told);
  sure.insert(step + 1);
  return check(on, sure);
}

struct counts {
  std::atomic<std::uint64_t> runs{0}, faults{0}, calls{0}, surfaced{0};
};

/// Errors that say nothing about a checkpoint: no older one may be restored instead.
bool is_of_the_moment(int error) {
  constexpr int all[] = {ESTALE, EMFILE, ENOMEM, EACCES};
  return std::find(std::begin(all), std::end(all), error) != std::end(all);
}

/// One run with a fault in call `at`, or in all that `selects` returns true for. What was wrong.
std::string meet(const stage& on, const fault& injected, std::uint64_t at, bool before_rename, counts& counted,
                 bool (*selects)(const tracer::call&) = nullptr, bool (*lasts)(const tracer::call&) = nullptr) {
  const tracer::shared<durability::testimony> told;
  on.set_up();
  const auto result =
      tracer::run({injected.what, at, injected.error, selects, lasts}, [&] { live_through(on, *told); });
  if (result.faults == 0 && (lasts || !on.in().is_repeatable()))
    return {};  // no such call comes after the one that is named
  if (result.faults == 0) return "the call is not made";
  ++counted.runs;
  counted.faults += result.faults;
  counted.surfaced += told->errors;
  std::string problem = told->problem;
  const std::string error = told->errors == 0 ? "" : std::string(" [") + told->last_error + "]";
  if (problem.empty() && result.has_hung()) problem = "it hangs";
  if (problem.empty() && !result.has_ended_well()) problem = "it ended with status " + std::to_string(result.status);
  if (problem.empty() && told->errors > 1 && !lasts) problem = "one fault, " + std::to_string(told->errors) + " errors";
  if (problem.empty() && told->errors + told->failures == 0 && on.in().is_repeatable() &&
      told->published < on.in().saved.back())
    problem = "no error, and no checkpoint";
  if (problem.empty() && is_of_the_moment(injected.error) && told->restored != 0 &&
      told->restored < scenario::newest(on.in().prepared))
    problem = "an older checkpoint was restored";
  if (problem.empty() && told->errors > 0 && !lasts && is_invisible(result.at, injected)) problem = "an error";
  if (problem.empty() && told->errors + told->failures == 0 && !lasts &&
      has_to_surface(result, injected, before_rename))
    problem = "no error";
  try {
    if (problem.empty()) problem = after_the_fault(on, *told);
  } catch (const std::exception& cause) {
    problem = std::string("a fresh process: ") + cause.what();
  }
  if (problem.empty()) return {};
  const auto path = result.path.empty() ? "" : "(" + result.path + ")";
  return tracer::name_of(result.at) + path + " gives " + std::string(injected.name) + ": " + problem + error;
}

/// The calls about files that a scenario makes when nothing fails.
std::vector<tracer::call> calls_of(const stage& on) {
  const tracer::shared<durability::testimony> told;
  static_cast<void>(
      cairn::detail::cores_of_process());  // reads a file once per process, which is no call of the scenario
  on.set_up();
  const auto result = tracer::run({}, [&] { live_through(on, *told); });
  if (!result.has_ended_well() || told->errors > 0 || told->problem[0] != 0)
    throw std::runtime_error(std::string("without a fault: ") + told->last_error + told->problem);
  std::vector<tracer::call> calls;
  for (const auto& call : result.calls)
    if (tracer::is_about_files(call)) calls.push_back(call);
  return calls;
}

/// Whether the call changes names: network file systems may do that and report an error.
bool changes_names(const tracer::call& at) {
  static const std::set<std::string> all{"renameat", "renameat2", "mkdirat", "unlinkat"};
  return all.contains(tracer::name_of(at));
}

/// Which faults one run has in one call. Those that have no effect are in all calls of one run (`meet_repeats`), and
/// one by one in the long tests. Saving that is not durable, and saving in the background, make nearly the same calls
/// as durable saving: two errors are enough there.
bool is_worth_it(const fault& injected, const tracer::call& at, std::size_t number, bool is_first) {
  constexpr int rare_errors[] = {EINVAL, ESTALE, EMFILE, ENOMEM, EACCES};
  if (injected.what == plan::kind::shorten) return durability::is_long() && tracer::can_come_short(at);
  if (injected.what == plan::kind::fail_after) return changes_names(at);
  if (injected.error == EINTR) return durability::is_long() || !is_repeated(at);
  if (const auto rare = std::find(std::begin(rare_errors), std::end(rare_errors), injected.error);
      rare != std::end(rare_errors) && !durability::is_long())
    return (number + is_first) % (2 * std::size(rare_errors)) ==
           static_cast<std::size_t>(rare - std::begin(rare_errors));
  return is_first || durability::is_long() || injected.error == EIO;
}

/// Every call that can come short does, and every call that is repeated is interrupted first. Says what was wrong.
template <class Say>
void meet_repeats(const stage& on, counts& counted, const Say& say) {
  for (const auto& [injected, selects] :
       {std::pair(fault{plan::kind::shorten, 0, "half of it"}, &tracer::can_come_short),
        std::pair(fault{plan::kind::fail, EINTR, "EINTR"}, &is_repeated)})
    if (const auto problem = meet(on, injected, 0, false, counted, selects); !problem.empty())
      say("all calls, the first of them " + problem);
}

bool is_any(const tracer::call&) { return true; }
bool writes(const tracer::call& at) {
  static const std::set<std::string> all{"pwrite64", "pwritev", "write", "fallocate", "mkdirat"};
  return all.contains(tracer::name_of(at)) || (tracer::name_of(at) == "openat" && (at.arguments[2] & O_CREAT) != 0);
}
bool changes(const tracer::call& at) {
  static const std::set<std::string> all{"ftruncate", "unlinkat", "renameat", "renameat2"};
  return writes(at) || all.contains(tracer::name_of(at));
}
bool opens(const tracer::call& at) { return tracer::name_of(at) == "openat"; }
bool syncs(const tracer::call& at) { return tracer::name_of(at) == "fsync"; }

/// Faults that last from a call on: the disk is gone, full or read-only, there are no descriptors, no flush succeeds,
/// the server has another file system.
constexpr std::pair<fault, bool (*)(const tracer::call&)> lasting[] = {
    {{plan::kind::fail, EIO, "EIO from then on"}, is_any},
    {{plan::kind::fail, ENOSPC, "ENOSPC from then on"}, writes},
    {{plan::kind::fail, EROFS, "EROFS from then on"}, changes},
    {{plan::kind::fail, EMFILE, "EMFILE from then on"}, opens},
    {{plan::kind::fail, EIO, "EIO of each flush from then on"}, syncs},
    {{plan::kind::fail, ESTALE, "ESTALE from then on"}, is_any}};

void meet_all(const std::string& name, bool durable, bool behind) {
  const tracer::shared<counts> counted;
  const auto problems = durability::divide([&](unsigned first, unsigned stride, const auto& say) {
    const stage on(durability::make_scenario(name, durable, behind));
    const auto calls = calls_of(on);
    counted->calls = calls.size();
    const auto first_of = [&](std::string_view call) {
      std::size_t at = 0;
      while (tracer::name_of(calls[at]) != call) ++at;
      return at;
    };
    // A step looks at the steps that are there before it saves; the save looks again when it has the lock.
    const std::size_t looked = behind ? first_of("flock") : 0;
    const std::size_t renamed = on.in().begins == durability::opening::fresh ? first_of("renameat") : 0;
    if (first == 0) meet_repeats(on, *counted, say);
    const auto every = durability::every_of(on.in());
    const std::size_t lasting_every = durability::is_long() ? 1 : 8;
    for (std::size_t i = first + stride * (durability::begin_of(on.in().name) % every); i < calls.size();
         i += std::size_t{stride} * every) {
      if (i / stride / every % lasting_every == 0) {
        const auto& [fault, lasts] = lasting[i / stride / every / lasting_every % std::size(lasting)];
        if (const auto problem = meet(on, fault, i + 1, false, *counted, nullptr, lasts); !problem.empty())
          say("call " + std::to_string(i + 1) + ", " + problem);
      }
      for (const auto& each : faults) {
        if (!is_worth_it(each, calls[i], i, durable && !behind)) continue;
        const auto problem = meet(on, each, i + 1, i >= looked && i < renamed, *counted);
        if (!problem.empty()) say("call " + std::to_string(i + 1) + ", " + problem);
      }
    }
  });
  for (const auto& problem : problems) FAIL_CHECK(name << ": " << problem);
  const bool are_all = durability::every() == 1;
  CHECK(counted->runs > (are_all ? 50 : 0));  // a run that interrupts all calls has many faults
  CHECK(counted->faults > (are_all ? 100 : 0));
  total.faults += counted->faults;
  total.calls += counted->calls;
  total.surfaced += counted->surfaced;
  ++total.scenarios;
}

void meet_all(const std::string& name) {
  SECTION("durable") { meet_all(name, true, false); }
  SECTION("plain") { meet_all(name, false, false); }
  SECTION("durable, in the background") { meet_all(name, true, true); }
  if (!durability::is_long()) return;
  SECTION("plain, in the background") { meet_all(name, false, true); }
}

}  // namespace

TEST_CASE("faults in the first checkpoint") { meet_all("first"); }
TEST_CASE("faults in a whole checkpoint") { meet_all("full"); }
TEST_CASE("faults in replacing a checkpoint") { meet_all("replace"); }
TEST_CASE("faults in deltas") { meet_all("delta"); }
TEST_CASE("faults in merging deltas") { meet_all("merge"); }
TEST_CASE("faults in removing old checkpoints") { meet_all("prune"); }
TEST_CASE("faults in removing an old chain") { meet_all("prune deltas"); }
TEST_CASE("faults in restoring and going on") { meet_all("resume"); }
TEST_CASE("faults in writing several files at a time") { meet_all("threads"); }
TEST_CASE("faults in a save in parts") { meet_all("parts", true, true); }
TEST_CASE("faults in a save that the next one cancels") { meet_all("cancelled", false, true); }
TEST_CASE("faults where another run replaces what is there") { meet_all("older", true, false); }
TEST_CASE("faults in replacing the notes of a checkpoint") { meet_all("ended", true, true); }
