// SPDX-License-Identifier: MIT
// Observers that print events: a line for people, or JSON lines for programs. No other header of Cairn prints.
#pragma once

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws
#include "cairn/event.hpp"

namespace cairn::inline v0_1::detail {
class line_file;
}

namespace cairn::inline v0_1::observers {

/// For people: one line for the outcome of each save, merge, removal and restore, and for each warning. On a terminal
/// it also draws a bar for the running save. `stream` must outlive the observer.
class progress_line {
 public:
  explicit progress_line(std::FILE* stream = stderr);

  void operator()(const event& what) const;

 private:
  [[nodiscard]] bool is_shown(event::kind what) const noexcept;
  void draw_bar(const event& what) const;

  std::FILE* stream_;
  bool terminal_;
};

/// Which events are written.
struct json_lines_options {
  bool progress = false;  ///< also progress events, which may be many
};

/// For programs: every event as a JSON object on a line of its own, {"event": its name, "time": seconds since 1970 to
/// the millisecond, "step", "checkpoint", "bytes", "total", "seconds", "message", "code": the name of the errc}. All
/// but the first three are left out when empty or 0. A file gets each line by one call (up to 64 KiB), so that a
/// process that is killed leaves whole lines; a stream is flushed after each. Bytes that are not UTF-8 become U+FFFD.
/// Copies share the file. What cannot be written is lost.
class json_lines {
 public:
  /// Writes to `stream`, which must outlive the observer and its copies.
  explicit json_lines(std::FILE* stream, json_lines_options options = {});

  /// Appends to the file `path`, which is created if there is none. errc::io when it cannot be opened.
  explicit json_lines(const std::string& path, json_lines_options options = {});

  void operator()(const event& what) const;

 private:
  std::shared_ptr<cairn::detail::line_file> file_;
  json_lines_options options_;
};

/// Passes each event to several observers, in that order, even when one throws.
class all {
 public:
  all(std::initializer_list<observer> observers);

  void operator()(const event& what) const;

 private:
  std::vector<observer> observers_;
};

}  // namespace cairn::inline v0_1::observers
