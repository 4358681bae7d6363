// SPDX-License-Identifier: MIT
// Definitions of session.hpp: how ranks wait for the copies to other places, and coordinate them.
#pragma once

#include <algorithm>
#include <string>

#include "cairn/run/session.hpp"

namespace cairn::inline v0_1::detail {

/// Waits until all places of the checkpoints have the newest one, for at most `seconds`. Returns whether they have it.
bool session::complete_copies(double seconds) {
  if (!store().levels()) return true;
  const double longest = history_.hosts() ? 0.02 : 1;  // seconds between rounds
  const stopwatch waited;
  while (true) {
    if (history_.hosts()) {  // copies need rounds
      history_.copies()->hurry();
      run_rounds(call_);
    }
    const double left = ranks_.from_leader([&] { return std::max(seconds - waited.seconds(), 0.0); });
    if (ranks_.from_leader([&] { return history_.copies()->complete(std::min(left, longest)); })) return true;
    if (left == 0) return false;
  }
}

/// The same, after a signal: tries again until the time is over, and then reports that.
void session::complete_copies_before(double seconds, std::uint64_t step) {
  const stopwatch waited;
  while (true) {
    try {
      if (complete_copies(ranks_.from_leader([&] { return std::max(seconds - waited.seconds(), 0.0); }))) return;
      break;
    } catch (...) {  // an event has reported it
      if (ranks_.is_broken()) throw;
      if (ranks_.from_leader([&] { return waited.seconds() >= seconds; })) break;
    }
  }
  if (ranks_.is_leader())
    record_.emit(history_.about(event::kind::failed, step, "not all places have this checkpoint in time"));
}

/// Passes on what is sent to other hosts.
void session::pass_messages() {
  if (!has_met_ || !history_.hosts()) return;
  try {
    if (history_.hosts()->pump(ranks_)) record_.touch();
  } catch (const error& cause) {
    drop_work(cause);
    throw;
  }
}

/// For copies from the disks of several hosts: passes what rank 0 asks the others for, and their answers.
void session::pass_requests(const verdict& last) {
  if (last.most.asks != 0) {
    const auto text = ranks_.broadcast(request_, 0, last.most.asks);
    history_.copies()->requested(text);
  }
  if (last.least.copies_done <= answered_) return;
  answered_ = last.least.copies_done;
  const auto failures = ranks_.gather([&] { return history_.copies()->failure(); });
  if (ranks_.is_leader()) history_.copies()->answered(answered_, failures);
}

}  // namespace cairn::inline v0_1::detail
