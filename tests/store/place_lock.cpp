// SPDX-License-Identifier: MIT
#include "cairn/store/place_lock.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "child.hpp"
#include "store/sample.hpp"

namespace fs = std::filesystem;
using namespace cairn::stores::detail;
using namespace std::chrono_literals;
using cairn::errc;

namespace {

std::shared_ptr<const open_directory> open(const std::string& path) {
  return std::make_shared<const open_directory>(path, cairn::posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY));
}

/// Takes the lock and releases it.
void take(const std::string& path, std::chrono::milliseconds term = 60s, cairn::stores::scheduler_job job = {}) {
  const place_lock lock(open(path), term, std::move(job));
}

/// The lock of an owner of another host.
void leave_lock(const sample::scratch& in, const owner_record& owner) {
  fs::create_directories(in.path(".lock"));
  sample::spill(in.path(".lock/owner"), cairn::detail::to_json(owner));
}

void set_time(const std::string& path, std::chrono::seconds ago) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - ago);
}

bool has_lock_manager = true;  // NOLINT

const owner_record elsewhere{.host = "node7", .boot = "b", .device = 1, .processes = 9, .process = 42, .started = 3};

}  // namespace

extern "C" int fcntl(int file, int command, ...) {
  std::va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  if (command != F_OFD_SETLK || has_lock_manager)
    return static_cast<int>(::syscall(SYS_fcntl, file, command, argument));
  errno = ENOLCK;
  return -1;
}

TEST_CASE("one process has the lock; what it leaves is nothing") {
  const sample::scratch scratch;
  {
    const place_lock lock(open(scratch.path()), 60s, {});
    CHECK(parse_owner(sample::slurp(scratch.path(".lock/owner"))));
    CHECK_NOTHROW(lock.check());
    CHECK(lock.former_writer().empty());
    const auto same = sample::failure_of([&] { take(scratch.path()); });
    CHECK(same.code == errc::busy);
    CHECK(same.says("another object of this process saves to " + scratch.path()));
    const auto parent = ::getpid();
    const auto other = tests::in_child([&] { take(scratch.path()); });
    CHECK(other.code == errc::busy);
    CHECK(other.says("process " + std::to_string(parent) + " saves to " + scratch.path()));
    const auto copied = tests::in_child([&] { lock.check(); });
    CHECK(copied.code == errc::invalid);
    CHECK(copied.says("the lock of " + scratch.path() + " belongs to the parent process"));
    CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
  }
  CHECK(fs::is_empty(scratch.path()));
  CHECK_NOTHROW(take(scratch.path()));
}

TEST_CASE("of many processes and threads one has the lock at a time") {
  const sample::scratch scratch;
  const auto contend = [&] {
    for (int taken = 0; taken < 25;) {
      const auto failure = sample::failure_of([&] {
        const place_lock lock(open(scratch.path()), 60s, {});
        if (::mkdir(scratch.path("inside").c_str(), 0777) != 0) std::abort();
        ++taken;
        if (::rmdir(scratch.path("inside").c_str()) != 0) std::abort();
      });
      if (!failure.sentence.empty() && failure.code != errc::busy) std::abort();
    }
  };
  std::vector<std::unique_ptr<tests::channel>> ends;
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    ends.push_back(std::make_unique<tests::channel>());
    children.push_back(tests::start_child(*ends.back(), [&](const tests::channel&) {
      const std::jthread beside(contend);
      contend();
    }));
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("the lock of a killed process is taken over at once, also if a child of it lives") {
  const sample::scratch scratch;
  tests::channel ready, finish;
  const pid_t owner = tests::start_child(ready, [&](const tests::channel& out) {
    finish.close_writer();
    const place_lock lock(open(scratch.path()), 60s, {});
    if (::fork() == 0) {
      out.send("!");
      static_cast<void>(finish.receive_all());
      ::_exit(0);
    }
    ::pause();
  });
  char byte = 0;
  REQUIRE(ready.receive(byte));
  CHECK(sample::failure_of([&] { take(scratch.path()); }).says("process " + std::to_string(owner)));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  CHECK(fs::exists(scratch.path(".lock/owner")));
  CHECK_NOTHROW(take(scratch.path()));
  CHECK(fs::is_empty(scratch.path()));
  finish.close_writer();
}

TEST_CASE("an owner of another host is dead when it has been silent for a term") {
  const sample::scratch scratch;
  leave_lock(scratch, elsewhere);
  set_time(scratch.path(".lock/owner"), 61s);
  {
    const place_lock lock(open(scratch.path()), 60s, {});
    CHECK(lock.former_writer() == elsewhere.writer());
    CHECK(lock.former_writer().size() == 16);
  }
  leave_lock(scratch, elsewhere);  // silent from now on
  CHECK_NOTHROW(take(scratch.path(), 30ms));
  fs::create_directories(scratch.path(".lock"));
  sample::spill(scratch.path(".lock/owner"), "");  // not written yet, or lost in a crash of its host
  CHECK_NOTHROW(take(scratch.path(), 30ms));
  fs::create_directories(scratch.path(".lock"));  // in the middle of a release
  CHECK_NOTHROW(take(scratch.path()));
  CHECK(fs::is_empty(scratch.path()));
}

namespace {
/// What `act` throws while the time of the owner's file changes all the time.
template <class Act>
auto failure_beside_signs(const sample::scratch& scratch, const Act& act) {
  std::atomic<bool> ends = false;
  std::jthread owner([&] {
    for (std::chrono::seconds ago = 10'000s; !ends; ago -= 1s) set_time(scratch.path(".lock/owner"), ago % 10s);
  });
  auto failure = sample::failure_of(act);
  ends = true;
  return failure;
}
}  // namespace

TEST_CASE("an owner of another host that gives signs lives") {
  const sample::scratch scratch;
  leave_lock(scratch, elsewhere);
  const auto failure = failure_beside_signs(scratch, [&] { take(scratch.path(), 20s); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says("process 42 on host node7 saves to " + scratch.path()));
  CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE(
    "an owner of this machine without a lock of the kernel, whose lock manager did not answer, lives by its signs") {
  const sample::scratch scratch;
  struct stat about{};
  REQUIRE(::stat(scratch.path().c_str(), &about) == 0);
  leave_lock(scratch, owner_record::of_this_process(about.st_dev, {}));
  const auto failure = failure_beside_signs(scratch, [&] { take(scratch.path(), 20s); });
  CHECK(failure.code == errc::busy);
}

TEST_CASE("an owner writes whether the kernel holds a lock for it") {
  for (const bool answers : {true, false}) {
    const sample::scratch scratch;
    has_lock_manager = answers;
    const place_lock lock(open(scratch.path()), 60s, {});
    has_lock_manager = true;
    CHECK(parse_owner(sample::slurp(scratch.path(".lock/owner"))).value().is_locked == answers);
  }
}

TEST_CASE("a restart of the same job does not wait") {
  const sample::scratch scratch;
  auto before = elsewhere;
  before.job = {"slurm 7", 1};
  leave_lock(scratch, before);
  CHECK_NOTHROW(take(scratch.path(), 1h, {"slurm 7", 2}));
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("an owner renews its lease") {
  const sample::scratch scratch;
  const place_lock lock(open(scratch.path()), 20ms, {});
  set_time(scratch.path(".lock/owner"), 100s);
  const auto old = fs::last_write_time(scratch.path(".lock/owner"));
  while (fs::last_write_time(scratch.path(".lock/owner")) == old) std::this_thread::yield();
}

TEST_CASE("a lock that was taken over, and a root that was moved or deleted, are noticed") {
  const sample::scratch scratch;
  fs::create_directory(scratch.path("run"));
  {
    const place_lock lock(open(scratch.path("run")), 60s, {});
    fs::rename(scratch.path("run/.lock"), scratch.path("run/stolen"));
    auto failure = sample::failure_of([&] { lock.check(); });
    CHECK(failure.code == errc::busy);
    CHECK(failure.says("another process has taken over " + scratch.path("run")));
    take(scratch.path("run"));
    CHECK(sample::failure_of([&] { lock.check(); }).code == errc::busy);
    fs::rename(scratch.path("run/stolen"), scratch.path("run/.lock"));
    CHECK_NOTHROW(lock.check());
    fs::rename(scratch.path("run"), scratch.path("moved"));
    failure = sample::failure_of([&] { lock.check(); });
    CHECK(failure.code == errc::io);
    CHECK(failure.says("was moved or deleted"));
    fs::create_directory(scratch.path("run"));
    CHECK(sample::failure_of([&] { lock.check(); }).says("was moved or deleted"));
  }
  CHECK(fs::is_empty(scratch.path("moved")));
}

// sshfs and others answer by paths: what is open here is what another owner has put there.
TEST_CASE("the lock of another owner is not taken for this one's because it is the same file") {
  const sample::scratch scratch;
  {
    const place_lock lock(open(scratch.path()), 60s, {});
    auto other = parse_owner(sample::slurp(scratch.path(".lock/owner"))).value();
    CHECK_NOTHROW(lock.check());
    ++other.random;
    sample::spill(scratch.path(".lock/owner"), cairn::detail::to_json(other));
    const auto failure = sample::failure_of([&] { lock.check(); });
    CHECK(failure.code == errc::busy);
    CHECK(failure.says("another process has taken over " + scratch.path()));
  }
  CHECK(fs::exists(scratch.path(".lock/owner")));  // it is not removed either
}

TEST_CASE("what is in the way") {
  const sample::scratch scratch;
  fs::create_directories(scratch.path(".lock"));
  sample::spill(scratch.path(".lock/notes"), "x");
  CHECK(sample::failure_of([&] { take(scratch.path()); }).says("hold files in its .lock"));
  CHECK(sample::slurp(scratch.path(".lock/notes")) == "x");
  fs::remove_all(scratch.path(".lock"));
  sample::spill(scratch.path("file"), "x");
  const std::function<void()> obstacles[] = {
      [&] { sample::spill(scratch.path(".lock"), "x"); },
      [&] { REQUIRE(::mkfifo(scratch.path(".lock").c_str(), 0600) == 0); },
      [&] { fs::create_symlink(scratch.path("file"), scratch.path(".lock")); },
      [&] { fs::create_directory_symlink(scratch.path(), scratch.path(".lock")); },
      [&] { fs::create_symlink(scratch.path("nowhere"), scratch.path(".lock")); },
  };
  for (const auto& put : obstacles) {
    put();
    const auto failure = sample::failure_of([&] { take(scratch.path()); });
    CHECK(failure.code == errc::io);
    CHECK(failure.says(scratch.path(".lock") + " is no directory: give another path, or move it away"));
    CHECK(fs::exists(fs::symlink_status(scratch.path(".lock"))));
    fs::remove(scratch.path(".lock"));
  }
  fs::remove(scratch.path("file"));
  fs::create_directories(scratch.path(".lock"));
  REQUIRE(::mkfifo(scratch.path(".lock/owner").c_str(), 0600) == 0);
  CHECK(sample::failure_of([&] {
          take(scratch.path());
        }).says(scratch.path(".lock/owner")));  // and does not wait for a writer
  fs::remove_all(scratch.path(".lock"));
  fs::create_directories(
      scratch.path(".tmp-.lock.0123456789abcdef01234567"));  // of a process that was killed while it made it
  sample::spill(scratch.path(".tmp-.lock.0123456789abcdef01234567/owner"), "x");
  CHECK_NOTHROW(take(scratch.path()));
  CHECK(fs::is_empty(scratch.path()));
}

using namespace cairn::stores::detail;
using cairn::stores::scheduler_job;

TEST_CASE("a record reads back, and nothing else is one") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const owner_record written{.host = "node" + std::to_string(random() % 100),
                               .boot = std::to_string(random()),
                               .device = random(),
                               .processes = random(),
                               .process = random(),
                               .started = random(),
                               .is_locked = random() % 2 == 0,
                               .job = {i % 2 == 0 ? "slurm " + std::to_string(random()) : "", random()}};
    const auto text = cairn::detail::to_json(written);
    const auto read = parse_owner(text);
    REQUIRE(read);
    CHECK(cairn::detail::to_json(*read) == text);
    CHECK(read->device == written.device);
    CHECK(read->is_locked == written.is_locked);
    CHECK(read->job.restarts == written.job.restarts);
    CHECK(parse_owner(text.substr(0, text.rfind('}')) + ", \"of a later version\": [1]}"));
    CHECK_FALSE(parse_owner(text.substr(0, random() % text.size())));
  }
  CHECK_FALSE(parse_owner(""));
  auto text = cairn::detail::to_json(owner_record{.host = "a\x1b[2J"});
  CHECK_FALSE(parse_owner(text));
  text = cairn::detail::to_json(owner_record{.host = std::string(256, 'a')});
  CHECK_FALSE(parse_owner(text));
  text = cairn::detail::to_json(owner_record{});
  CHECK(parse_owner(text));
  const std::string device = "\"device\": ";
  text.replace(text.find(device) + device.size(), 1, "-1");
  CHECK_FALSE(parse_owner(text));
}

TEST_CASE("this process") {
  const auto self = owner_record::of_this_process(5, {"a\nb", 1});
  CHECK(self.process == static_cast<std::uint64_t>(::getpid()));
  CHECK(self.started > 0);
  CHECK(self.boot.size() == 36);
  CHECK(self.job.id == "a\nb");
  CHECK(parse_owner(cairn::detail::to_json(self)).value().job.id == "a\nb");
  CHECK(machine_id(5).size() == 8);
  CHECK(machine_id(5) != machine_id(6));
  CHECK(owner_record{}.writer().empty());
  CHECK(process_id().size() == 8);
  CHECK(self.writer() == machine_id(5) + process_id());
  for (const auto member : {&owner_record::processes, &owner_record::process, &owner_record::started}) {
    auto another = self;
    another.*member += 1;
    CHECK(another.writer() != self.writer());
    another.*member = 0;
    CHECK(another.writer().empty() == (member != &owner_record::process));
  }
  const auto of_parent = process_id();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto here = owner_record::of_this_process(5, {});
    ::_exit(process_id() != of_parent && here.writer() == machine_id(5) + process_id() ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);

  auto other = self;
  CHECK(other.name_for(self) == "another object of this process");
  other.started += 1;
  CHECK(other.name_for(self) == "process " + std::to_string(self.process));
  other.host = "node7";
  CHECK(other.name_for(self) == "process " + std::to_string(self.process) + " on host node7");
}

TEST_CASE("who shares locks, and who is a restart") {
  const owner_record a{.boot = "x", .device = 1, .job = {"slurm 1", 1}};
  CHECK(a.shares_locks_with({.boot = "x", .device = 1}));
  CHECK_FALSE(a.shares_locks_with({.boot = "x", .device = 2}));
  CHECK_FALSE(a.shares_locks_with({.boot = "y", .device = 1}));
  CHECK_FALSE(owner_record{}.shares_locks_with({}));
  CHECK(a.is_restart_of({.job = {"slurm 1", 0}}));
  CHECK_FALSE(a.is_restart_of({.job = {"slurm 1", 1}}));
  CHECK_FALSE(a.is_restart_of({.job = {"slurm 2", 0}}));
  CHECK_FALSE(owner_record{.job = {"", 1}}.is_restart_of({}));
}

TEST_CASE("the end of a process") {
  const auto self = owner_record::of_this_process(5, {});
  CHECK_FALSE(self.sees_end_of(self));
  auto other = self;
  other.started += 1;  // a former process of the same id
  CHECK(self.sees_end_of(other));
  other.processes += 1;
  CHECK_FALSE(self.sees_end_of(other));
  other = self;
  other.process = std::uint64_t{1} << 40U;
  CHECK(self.sees_end_of(other));
  other.boot = "another";
  CHECK_FALSE(self.sees_end_of(other));
  CHECK_FALSE(owner_record{}.sees_end_of({}));
}

TEST_CASE("the job of the environment") {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "TORCHELASTIC_RUN_ID"}) ::unsetenv(name);
  CHECK(scheduler_job::of_environment().id.empty());
  ::setenv("TORCHELASTIC_RUN_ID", "r", 1);
  CHECK(scheduler_job::of_environment().id == "torchelastic r");
  ::setenv("SLURM_JOB_ID", "17", 1);
  CHECK(scheduler_job::of_environment().id == "slurm 17");
  CHECK(scheduler_job::of_environment().restarts == 0);
  ::setenv("SLURM_RESTART_COUNT", "3", 1);
  CHECK(scheduler_job::of_environment().restarts == 3);
  ::setenv("SLURM_RESTART_COUNT", "-3", 1);
  CHECK(scheduler_job::of_environment().restarts == 0);
}
