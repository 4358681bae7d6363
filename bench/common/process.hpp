// SPDX-License-Identifier: MIT
// Runs a program as a child process and tells what it said and what it cost.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bench {

struct process_result {
  int status = -1;               ///< exit status; -1 where a signal ended it
  std::string output;            ///< stdout and stderr together
  double seconds = 0;            ///< wall clock
  double cpu_seconds = 0;        ///< user and system time, with those of its own children
  std::uint64_t peak_bytes = 0;  ///< the most memory that it or one of its children has taken
};

/// Runs `words[0]` (a path, or a name on PATH) and waits for its end. Throws std::runtime_error where it
/// cannot start.
[[nodiscard]] inline process_result run(const std::vector<std::string>& words) {
  int channel[2];
  if (::pipe2(channel, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, channel[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, channel[1], STDERR_FILENO);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(channel[1]);
  process_result result;
  if (failed == 0) {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(channel[0], buffer, sizeof buffer)) != 0;) {
      if (n > 0)
        result.output.append(buffer, static_cast<std::size_t>(n));
      else if (errno != EINTR)
        break;
    }
  }
  ::close(channel[0]);
  if (failed != 0) throw std::runtime_error("cannot run " + words[0]);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace bench
