// Ready-made observers. The only header of Cairn that prints, and only when it is asked to.
#pragma once

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "cairn/event.hpp"

namespace cairn::observers {

/// One line about the save that is going on, redrawn in place on a terminal; on anything else one line per
/// event and none for progress. `stream` must outlive the observer.
class progress_line {
 public:
  explicit progress_line(std::FILE* stream = stderr) : stream_(stream), terminal_(::isatty(::fileno(stream)) == 1) {}

  void operator()(const event& what) const {
    if (what.what == event::kind::progress) {
      if (terminal_) draw_bar(what);
      return;
    }
    if (what.what == event::kind::started) return;
    std::fprintf(stream_, "%scairn: %s\n", terminal_ ? "\r\033[K" : "", sentence_of(what).c_str());
    std::fflush(stream_);
  }

 private:
  static constexpr int bar_width = 30;

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
      default:
        return std::string(name(what.what)) + ": " + (what.message.empty() ? what.checkpoint : what.message);
    }
  }

  std::FILE* stream_;
  bool terminal_;
};

}  // namespace cairn::observers
