// SPDX-License-Identifier: MIT
// SIGINT, SIGTERM and SIGHUP while files are written: what is half done is removed before the program ends by the signal.
#pragma once

namespace program {

/// The signals are noted while the object is there; a second one ends the program at once.
class interrupts {
 public:
  interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  ~interrupts();

  /// errc::cancelled after a signal.
  static void check();
  /// The signal that came, or 0.
  [[nodiscard]] static int signal() noexcept;
};

}  // namespace program
