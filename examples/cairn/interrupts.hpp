// SPDX-License-Identifier: MIT
// SIGINT, SIGTERM and SIGHUP while files are written or removed: what is half done is undone, and locks are released,
// before the program ends by the signal.
#pragma once

#include <string_view>

namespace program {

/// The signals are noted while the object is there; a second one ends the program at once.
class interrupts {
 public:
  interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  ~interrupts();

  /// After a signal errc::cancelled, which says how things are.
  static void check(std::string_view state = "nothing is left of the output");
  /// The signal that came, or 0.
  [[nodiscard]] static int signal() noexcept;
};

}  // namespace program
