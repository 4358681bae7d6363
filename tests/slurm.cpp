// SPDX-License-Identifier: MIT
#include "cairn/slurm.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

using std::chrono::seconds;
using std::chrono::system_clock;

namespace {

/// Sets a variable of the environment, or removes it, for as long as this lives.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value != nullptr)
      ::setenv(name_, value, 1);
    else
      ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_{};
};

}  // namespace

TEST_CASE("the end of the job is that of the environment, less the margin") {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const auto end = random();
    const variable set("SLURM_JOB_END_TIME", std::to_string(end).c_str());
    const auto margin = seconds(random() % 1000);
    CHECK(cairn::slurm::job_end() == system_clock::time_point(seconds(end)));
    CHECK(*cairn::slurm::job_end(margin) + margin == *cairn::slurm::job_end());
  }
  const variable none("SLURM_JOB_END_TIME", nullptr);
  CHECK_FALSE(cairn::slurm::job_end(seconds(9)));
}

TEST_CASE("each task of an array has its own place, and a job without an array the place itself") {
  {
    const variable none("SLURM_ARRAY_TASK_ID", nullptr);
    CHECK(cairn::slurm::place("runs/a") == "runs/a");
  }
  for (const std::string task : {"0", "7", "4000000"}) {
    const variable set("SLURM_ARRAY_TASK_ID", task.c_str());
    CHECK(cairn::slurm::place("runs/a") == "runs/a/task-" + task);
    CHECK(cairn::slurm::place("runs/a/") == "runs/a/task-" + task);
    CHECK(cairn::slurm::place("/") == "/task-" + task);
    CHECK(cairn::slurm::place("") == "task-" + task);  // as "" is the current directory
  }
}

TEST_CASE("a margin is no less than 0, and no longer than the time since 1970") {
  const variable end("SLURM_JOB_END_TIME", "1000");
  CHECK(cairn::slurm::job_end(seconds(1000)) == system_clock::time_point());
  for (const auto margin : {seconds(-1), seconds(1001), seconds::max(), seconds::min()})
    CHECK_THROWS_AS(cairn::slurm::job_end(margin), cairn::error);
}

TEST_CASE("text that is no number is refused, with its name") {
  for (const char* const text : {"", "x", "3x", "-1", "0x10", " 5", "99999999999"}) {
    const variable end("SLURM_JOB_END_TIME", text), task("SLURM_ARRAY_TASK_ID", text);
    const auto says = [&](const auto& call, const std::string& name) {
      const auto failure = sample::failure_of(call);
      return failure.code == cairn::errc::invalid && failure.says(name);
    };
    CHECK(says([] { static_cast<void>(cairn::slurm::job_end()); }, "SLURM_JOB_END_TIME"));
    CHECK(says([] { static_cast<void>(cairn::slurm::place("runs")); }, "SLURM_ARRAY_TASK_ID"));
  }
}
