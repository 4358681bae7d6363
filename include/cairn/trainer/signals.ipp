// SPDX-License-Identifier: MIT
// Definitions of signals.hpp and signal_watch.hpp.
#pragma once

#include <cerrno>
#include <cstddef>

#include "cairn/trainer/signal_watch.hpp"
#include "cairn/signals.hpp"

namespace cairn::inline v0_1 {
namespace detail {

void on_signal(int number) {
  const int kept = errno;
  signals_of_process.handling.fetch_add(1);
  if (signal_watch* watch = signals_of_process.watch[static_cast<std::size_t>(number)].load()) watch->take(number);
  signals_of_process.handling.fetch_sub(1);
  errno = kept;
}

/// Ends a watch. It is not freed while a handler may still use it.
void drop(signal_watch* watch) noexcept {
  const std::lock_guard lock(signals_of_process.changing);
  watch->uninstall();
  if (wait_for_handlers()) delete watch;
}

}  // namespace detail

signals::signals(std::initializer_list<int> numbers) {
  if (numbers.size() == 0) return;
  watch_ = std::shared_ptr<detail::signal_watch>(new detail::signal_watch(numbers), &detail::drop);
  watch_->install();
}

int signals::number() const noexcept { return watch_ ? watch_->number() : 0; }

double signals::seconds_since() const noexcept { return watch_ ? watch_->seconds_since() : 0; }

}  // namespace cairn::inline v0_1
