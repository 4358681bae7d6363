// SPDX-License-Identifier: MIT
// Definitions of signals.hpp and signal_watch.hpp.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>

#include "cairn/run/signal_watch.hpp"
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

/// Waits until no handler runs: one that still restores the earlier handlers of its set would also remove those of a
/// newer set. False after a second: a fork copies the count but not the threads, so in the child process a handler can
/// seem to run forever.
bool wait_for_handlers() noexcept {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (signals_of_process.handling.load() != 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

void signal_watch::install() {
  const std::lock_guard lock(signals_of_process.changing);
  struct sigaction ours{};
  ours.sa_handler = &on_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  for (auto& each : entries_) {
    if (::sigaction(each.number, nullptr, &each.before) != 0)
      fail(errc::invalid, {"there is no signal ", each.number, " to handle"});
    const signal_watch* other = signals_of_process.watch[static_cast<std::size_t>(each.number)].load();
    if (other != nullptr && !other->taken_.load())
      fail(errc::invalid,
           {"signal ", each.number, " is in another cairn::signals already: use a copy of that one in both places"});
    sigaddset(&ours.sa_mask, each.number);
  }
  for (const auto& each : entries_) signals_of_process.watch[static_cast<std::size_t>(each.number)].store(this);
  wait_for_handlers();
  for (const auto& each : entries_) {
    if (::sigaction(each.number, &ours, nullptr) != 0)
      fail(errc::invalid, {"signal ", each.number, " cannot be handled"});
  }
}

void signal_watch::uninstall() noexcept {
  for (const auto& each : entries_) {
    if (each.number <= 0 || each.number >= NSIG) continue;
    auto& watch = signals_of_process.watch[static_cast<std::size_t>(each.number)];
    if (watch.load() != this) continue;  // never installed, or received and then replaced by a newer set
    restore(each);
    watch.store(nullptr);
  }
}

void signal_watch::take(int number) noexcept {
  if (::getpid() != process_) {  // not `owner_process`: the signal may come right after the fork, or after a vfork
    for (const auto& each : entries_) restore(each);
    ::raise(number);  // when this handler has returned
    return;
  }
  if (!taken_.exchange(true)) {
    for (const auto& each : entries_) restore(each);
    arrival_.store(now(), std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
    return;
  }
  // A second signal while the first is handled. Raised again, it goes to the earlier handler, which `restore` installs.
  for (const auto& each : entries_)
    if (each.number == number && restore(each)) ::raise(number);
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
