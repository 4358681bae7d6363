// SPDX-License-Identifier: MIT
// A crash of the machine on real file systems: ext4, XFS and btrfs on a disk whose writes are recorded. Any part of
// what was not flushed is lost. Then the file system is mounted again, and what was reported as saved is restored bit
// by bit.
#include "cairn/checkpointer.hpp"

#include "catch.hpp"
#include "durability/filesystems/recorded_disk.hpp"
#include "durability/scenarios.hpp"

namespace {

namespace fs = std::filesystem;
using filesystems::lost;

/// A state that was saved: the requests to the disk before its save began, and before that returned.
struct version {
  std::uint64_t step = 0;
  chain::bits bits;
  std::size_t begun = 0, returned = 0;
};

struct recorded_run {
  filesystems::disk_image before;
  std::vector<filesystems::disk_request> log;
  std::vector<version> versions;
  std::size_t mounted = 0;  // requests before the run began, which are none of a crash
};

cairn::checkpointer_options options(bool durable) {
  cairn::checkpointer_options all;
  all.keep_last = 2;
  all.threads = 1;
  all.durable = durable;
  all.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  all.chain = {.anchor_every = 6, .merge = cairn::merging{.every = 3}};
  return all;
}

/// Each third save is one of a step that is there already, which it replaces.
recorded_run record(const std::string& type, std::size_t saves) {
  const sample::scratch scratch(sample::in_memory());
  filesystems::make_disk(scratch.path("image"), type);
  recorded_run made{.before = filesystems::disk_image(scratch.path("image")), .log = {}, .versions = {}};
  fs::create_directory(scratch.path("recorded"));
  const filesystems::recorded_disk disk(scratch.path("image"), scratch.path("log"), scratch.path("recorded"));
  {
    filesystems::mounted there(type, disk.image(), scratch.path("mount"));
    made.mounted = disk.requests();
    std::mt19937 random(3);
    auto state = chain::start(random, 3000);
    cairn::checkpointer run(there.at() + "/some/run", options(true));
    for (std::size_t i = 0; i < saves; ++i) {
      chain::train(state, random);
      state.step = made.versions.empty() ? 1 : made.versions.back().step + (i % 3 == 2 ? 0 : 1);
      made.versions.push_back({.step = state.step, .bits = chain::bits_of(state), .begun = disk.requests()});
      run.save(state, {.step = state.step});
      made.versions.back().returned = disk.requests();
      if (i % 2 == 0) run.wait();  // else a merge goes on beside the next save
    }
    run.wait();
  }
  made.log = disk.log();
  return made;
}

/// What is wrong after a crash; empty when all is well.
std::string after_crash(const recorded_run& run, std::size_t point, const std::string& root, bool durable) {
  // The machine starts again an hour later: this process, which had the lock, counts as dead.
  if (const fs::path owner = root + "/.lock/owner"; fs::exists(owner))
    fs::last_write_time(owner, fs::file_time_type::clock::now() - std::chrono::hours(1));
  cairn::checkpointer fresh(root, options(durable));
  chain::state state;
  const auto report = fresh.restore(state);
  std::size_t least = 0, most = 0;  // counts of versions
  for (const auto& each : run.versions) {
    most += each.begun <= point;
    least += each.returned <= point;
  }
  if (!report && least > 0) return "nothing was restored";
  if (report && !report->skipped.empty()) return "passed over: " + report->skipped.front().reason;
  if (report) {
    const auto bits = chain::bits_of(state);
    std::size_t at = most;
    while (at > 0 && run.versions[at - 1].bits != bits) --at;
    if (at == 0) return "step " + std::to_string(report->step) + " was never like that";
    if (at < least) return "lost: version " + std::to_string(at) + " was restored of " + std::to_string(least);
  }
  std::mt19937 random(5);
  if (!report) state = chain::start(random, 3000);
  chain::train(state, random);
  const auto step = run.versions.back().step + 1;
  fresh.save(state, {.step = step});
  fresh.wait();
  chain::state again;
  const auto found = fresh.restore(again);
  if (!found || found->step != step || chain::bits_of(again) != chain::bits_of(state))
    return "the next save is not restored";
  for (const auto& each : fs::directory_iterator(root))
    if (each.path().filename().string().starts_with(".") && each.path().filename() != ".lock")
      return each.path().filename().string() + " is left";
  return {};
}

void crash_everywhere(const std::string& type) {
  const std::size_t crashes = durability::is_long() ? 1500 : 60;
  std::optional<recorded_run> run;
  try {
    run = record(type, durability::is_long() ? 40 : 14);
  } catch (const filesystems::unavailable& cause) {
    SKIP(cause.reason);
  }
  const sample::scratch scratch(sample::in_memory());
  std::size_t flushes = 0, wrong = 0;
  for (const auto& each : run->log) flushes += each.bytes.empty();
  CHECK(flushes > run->versions.size());
  for (std::size_t i = 0; i < crashes; ++i) {
    std::mt19937_64 random(i);
    const auto point = run->mounted + random() % (run->log.size() - run->mounted + 1);
    const auto how = static_cast<lost>(i % 3);
    std::string problem;
    try {
      run->before.crashed(run->log, point, how, random).write(scratch.path("disk"));
      filesystems::mounted there(type, scratch.path("disk"), scratch.path("mount"));
      problem =
          after_crash(*run, point, there.at() + "/some/run", i % 6 == 0);  // most need not wait for the disk again
      there.unmount();
    } catch (const std::exception& cause) {
      problem = cause.what();
    } catch (const filesystems::unavailable& cause) {
      problem = cause.reason;
    }
    fs::remove(scratch.path("disk"));
    wrong += !problem.empty();
    if (!problem.empty() && wrong < 6)
      FAIL_CHECK(type << ", crash " << i << " at request " << point << " of " << run->log.size() << ", lost "
                      << static_cast<int>(how) << ": " << problem);
  }
  CHECK(wrong == 0);
  std::printf("disks: %s, %zu crashes at %zu requests with %zu flushes, %zu wrong\n", type.c_str(), crashes,
              run->log.size(), flushes, wrong);
}

}  // namespace

TEST_CASE("a crash of the machine on ext4") { crash_everywhere("ext4"); }
TEST_CASE("a crash of the machine on XFS") { crash_everywhere("xfs"); }
TEST_CASE("a crash of the machine on btrfs") { crash_everywhere("btrfs"); }
