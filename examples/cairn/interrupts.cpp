// SPDX-License-Identifier: MIT
#include "interrupts.hpp"

#include <csignal>

#include "cairn/core/error.hpp"

namespace program {

namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note(int number) {
  noted = number;
  std::signal(number, SIG_DFL);
}

constexpr int numbers[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

interrupts::interrupts() {
  for (const int each : numbers)
    if (std::signal(each, note) == SIG_IGN) std::signal(each, SIG_IGN);  // as under nohup
}

interrupts::~interrupts() {
  for (const int each : numbers)
    if (std::signal(each, SIG_DFL) == SIG_IGN) std::signal(each, SIG_IGN);
}

void interrupts::check(std::string_view state) {
  if (noted != 0) cairn::fail(cairn::errc::cancelled, {"interrupted: ", state});
}

int interrupts::signal() noexcept { return noted; }

}  // namespace program
