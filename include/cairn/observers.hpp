// Ready-made observers. The only header of Cairn that prints, and only when it is asked to.
#pragma once

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/event.hpp"

namespace cairn::observers {

/// For people: what came of each save and restore, and what they should know of, one line each. On a terminal there is
/// also a bar, redrawn in place, for the save that is going on. `stream` must outlive the observer.
class progress_line {
 public:
  explicit progress_line(std::FILE* stream = stderr) : stream_(stream), terminal_(::isatty(::fileno(stream)) == 1) {}

  void operator()(const event& what) const {
    if (what.what == event::kind::progress) {
      if (terminal_) draw_bar(what);
      return;
    }
    if (!is_told(what.what)) return;
    std::fprintf(stream_, "%scairn: %s\n", terminal_ ? "\r\033[K" : "", sentence_of(what).c_str());
    std::fflush(stream_);
  }

 private:
  static constexpr int bar_width = 30;

  /// Outcomes, and what asks for a decision (a budget too small, a signal). The stages of a save say nothing that
  /// its outcome does not. A log should explain each gap between checkpoints; who watches a terminal sees the bar of
  /// the very save that is in the way, and a line per skipped save would only push it off the screen.
  [[nodiscard]] bool is_told(event::kind what) const noexcept {
    using kind = event::kind;
    if (what == kind::skipped) return !terminal_;
    return what != kind::started && what != kind::copied && what != kind::encoded && what != kind::written;
  }

  void draw_bar(const event& what) const {
    const double share = what.total > 0 ? static_cast<double>(what.bytes) / static_cast<double>(what.total) : 1.0;
    const auto full = static_cast<std::size_t>(share * bar_width);
    const std::string bar = std::string(full, '=') + std::string(bar_width - full, ' ');
    std::fprintf(stream_, "\r\033[Kcairn: step %" PRIu64 " [%s] %3.0f %%", what.step, bar.c_str(), 100 * share);
    std::fflush(stream_);
  }

  [[nodiscard]] static std::string sentence_of(const event& what) {
    char text[160];
    const double mebibytes = static_cast<double>(what.bytes) / (1024.0 * 1024.0);
    switch (what.what) {
      case event::kind::published:
      case event::kind::restored:
        std::snprintf(text, sizeof text, "step %" PRIu64 " %s, %.1f MiB in %.0f ms", what.step,
                      what.what == event::kind::published ? "saved" : "restored", mebibytes, 1000 * what.seconds);
        return text;
      case event::kind::stopping:
        std::snprintf(text, sizeof text, ", %.0f s left", what.seconds);
        return "stopping: " + what.message + text;
      default:
        return std::string(name(what.what)) + ": " + (what.message.empty() ? what.checkpoint : what.message);
    }
  }

  std::FILE* stream_;
  bool terminal_;
};

struct json_lines_options {
  bool progress = false;  ///< progress events too, of which there may be many
};

namespace detail {
class line_file;
}

/// For programs: every event as a JSON object on a line of its own, {"event": its name, "time": seconds since 1970 to
/// the millisecond, "step", "checkpoint", "bytes", "total", "seconds", "message"}. All but the first three are left
/// out when empty or 0. Each line is written by one call, so that a process that is killed leaves whole lines. Bytes
/// that are not UTF-8 become U+FFFD. Copies share the file; what cannot be written is lost.
class json_lines {
 public:
  /// To `stream`, which must outlive the observer and its copies.
  explicit json_lines(std::FILE* stream, json_lines_options options = {});

  /// To the end of the file `path`, which is made when there is none. errc::io when it cannot be opened.
  explicit json_lines(const std::string& path, json_lines_options options = {});

  void operator()(const event& what) const;

 private:
  std::shared_ptr<detail::line_file> file_;
  json_lines_options options_;
};

/// Tells several observers, in that order; one that throws does not keep the event from the others.
class all {
 public:
  all(std::initializer_list<observer> observers) : observers_(observers) {}

  void operator()(const event& what) const {
    for (const auto& each : observers_) cairn::detail::notify(each, what);
  }

 private:
  std::vector<observer> observers_;
};

}  // namespace cairn::observers

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/run/observers.ipp"  // IWYU pragma: keep
#endif
