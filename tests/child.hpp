// SPDX-License-Identifier: MIT
// Processes of their own for tests: what one does to itself (limits, rights, dying) the others do not see.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "store/sample.hpp"
#include "standard.hpp"

namespace tests {

/// The two ends of a pipe.
class channel {
 public:
  channel() {
    if (::pipe(ends_) != 0) std::abort();
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    close_reader();
    close_writer();
  }

  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }

  void send(const std::string& text) const {
    if (::write(ends_[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
  }

  /// The next byte, waiting for it; false at the end.
  [[nodiscard]] bool receive(char& byte) const { return ::read(ends_[0], &byte, 1) == 1; }

  [[nodiscard]] int writer() const { return ends_[1]; }

  /// What one read gets, waiting for it.
  [[nodiscard]] std::string receive_some() const {
    std::string text(1 << 16, '\0');
    const auto got = ::read(ends_[0], text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  [[nodiscard]] std::string receive_all() const {
    std::string text;
    for (char byte = 0; receive(byte);) text += byte;
    return text;
  }

 private:
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  int ends_[2]{-1, -1};
};

/// Starts a process that runs `action(channel)` and ends; the caller reads from the channel and waits for it.
template <class Action>
pid_t start_child(channel& out, const Action& action) {
  const pid_t child = ::fork();
  if (child != 0) {
    out.close_writer();
    return child;
  }
  out.close_reader();
  try {
    action(out);
  } catch (const std::exception&) {
    ::_exit(4);
  }
  ::_exit(0);
}

/// Kills a child. Whether it has lived until then.
inline bool kill_child(pid_t child) {
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

/// Runs `action` in a process of its own. What it said last, or of its cairn::error: code and sentence.
template <class Action>
sample::failure in_child(const Action& action) {
  channel out;
  const pid_t child = start_child(out, [&](const channel& to) {
    const auto failure = sample::failure_of(action);
    to.send(static_cast<char>('0' + static_cast<int>(failure.code)) + failure.sentence);
  });
  const auto text = out.receive_all();
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0 || text.empty()) return {{}, "the child ended with status " + std::to_string(status)};
  return {static_cast<cairn::errc>(text.front() - '0'), text.substr(1)};
}

}  // namespace tests
