// SPDX-License-Identifier: MIT
#include "cairn/store/place_lock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>

#include "catch.hpp"

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
    const auto text = to_text(written);
    const auto read = parse_owner(text);
    REQUIRE(read);
    CHECK(to_text(*read) == text);
    CHECK(read->device == written.device);
    CHECK(read->is_locked == written.is_locked);
    CHECK(read->job.restarts == written.job.restarts);
    CHECK(parse_owner(text.substr(0, text.rfind('}')) + ", \"of a later version\": [1]}"));
    CHECK_FALSE(parse_owner(text.substr(0, random() % text.size())));
  }
  CHECK_FALSE(parse_owner(""));
  auto text = to_text({.host = "a\x1b[2J"});
  CHECK_FALSE(parse_owner(text));
  text = to_text({.host = std::string(256, 'a')});
  CHECK_FALSE(parse_owner(text));
  text = to_text({});
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
  CHECK(parse_owner(to_text(self)).value().job.id == "a\nb");
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
