// SPDX-License-Identifier: MIT
// Definitions of session.hpp: the rounds in which the ranks of a group vote, and what follows from a verdict.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/run/joint_save.ipp"
#include "cairn/run/preempt_plan.hpp"
#include "cairn/run/session.hpp"
#include "cairn/run/session.ipp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// In place of the hash of a copy: the rank copies its state if the others do, or its copy has failed.
inline constexpr std::uint64_t will_copy = 1;

/// What all ranks must have in common.
inline std::string common_options(const any_store& store, const checkpointer_options& options) {
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  const auto count = [](const auto& value) { return value ? std::to_string(*value) : "none"; };
  std::string text = "place " + store.location() + ", asynchronous " + number(options.asynchronous) + ", on_busy " +
                     number(options.on_busy) + ", on_destruction " + number(options.on_destruction) + ", on_failure " +
                     number(options.on_failure) + ", on_older_step " + number(options.on_older_step) +
                     ", replica_check " + number(options.replica_check) + ", chain.anchor_every " +
                     count(options.chain.anchor_every) + ", chain.merge_every " + count(options.chain.merge_every) +
                     (options.chain.merge_to_whole ? " to a whole checkpoint" : "") +
                     (options.when.uses_steps_alone() ? ", a policy of steps alone" : "");
  for (const auto& rule : options.codecs)
    text += ", " + rule.pattern + ": " + std::string(rule.codec.name()) +
            (rule.codec.uses_parent() ? " with the parent" : "");
  return text;
}

/// In the first call: compares the options of the ranks, and learns their weights. A rank may have left before.
void session::meet() {
  if (has_met_) return;
  begin_round("the first call");
  end_round();
  ranks_.require_same("the options", common_options(store(), options_));
  shares_.set_weights(ranks_.all_gather(options_.rank_weight));
  has_met_ = true;
}

void session::begin_round(const std::string& call, vote mine) {
  const auto what = call + " of " + store().location();  // a group may have several checkpointers
  mine.call = checksum(std::as_bytes(std::span(what)));
  mine.has_thrown = own_failure_.has_value();
  mine.pauses = ranks_.is_leader() && !policy_.may_save();
  mine.signal = options_.preempt.number();
  if (mine.signal == 0 && advise_before_end() == schedule::before_end::stop) mine.signal = time_limit;
  if (mine.signal != 0) {
    const double left = seconds_to_stop();
    mine.milliseconds_left = left > 0 ? static_cast<std::uint64_t>(1000 * left) : 0;
  }
  if (joint_) {
    auto& save = *joint_;
    mine.has_failed = save.has_failed();
    if (save.phase == save_phase::writing && save.is_done && !save.failure) save.phase = save_phase::prepared;
    mine.phase = save.phase;
    if (save.is_begun) mine.begun = save.begun.size();
    if (save.phase == save_phase::publishing && save.is_done) mine.published = save.published;
  }
  call_ = call;
  own_vote_ = mine;
  ranks_.begin_round(fill_ballot(mine, ranks_.rank(), ranks_.size()));
}

/// Waits for the round.
verdict session::take_verdict() {
  if (deferred_) return *std::exchange(deferred_, std::nullopt);
  try {
    ballot largest{};
    const auto numbers = ranks_.end_round();
    std::copy_n(numbers.begin(), largest.size(), largest.begin());
    return read_ballots(largest, ranks_.size());
  } catch (const error& cause) {
    drop_joint_save(cause);
    throw;
  }
}

/// Waits for the round, and acts on its verdict.
verdict session::end_round() {
  const auto last = take_verdict();
  act_on(last);
  return last;
}

/// Ends the round of an earlier step. Then runs rounds, for the call `call` of all ranks, until no save or merge runs in the background. After `longest_seconds`
/// the leader has it cancelled.
void session::run_rounds(const std::string& call, double longest_seconds) {
  constexpr std::chrono::milliseconds pause(1);
  meet();
  if (has_verdict()) end_round();
  const stopwatch waited;
  while (true) {
    begin_round(call, {.cancels = ranks_.is_leader() && joint_ && waited.seconds() > longest_seconds});
    end_round();
    if (!joint_) return;
    report_hang();
    pause_for(pause);
  }
}

void session::progress() {
  check_owner();
  try {
    if (!ranks_.is_alone()) static_cast<void>(ranks_.test_round());
  } catch (const error&) {  // the next call throws it
  }
}

/// All ranks act on a verdict in the same call.
void session::act_on(const verdict& last) {
  try {
    obey(last);
  } catch (const error& cause) {
    if (ranks_.is_broken()) drop_joint_save(cause);
    throw;
  }
}

void session::obey(const verdict& last) {
  is_pausing_ = last.pauses;
  is_stopping_ = is_stopping_ || last.signal != 0;
  if (last.leaving && *last.leaving != ranks_.rank()) {
    ranks_.give_up({errc::lost_rank, "rank " + std::to_string(*last.leaving) + " has ended by an exception"});
    fail(errc::lost_rank, {"rank ", *last.leaving, " has ended by an exception"});
  }
  if (!last.is_same_call) {
    drop_joint_save({errc::mismatch, "the ranks differ in the call"});
    ranks_.require_same("the call", call_);
  }
  if (last.has_failed || last.has_thrown) return fail_together(last);
  if (last.is_copied && !last.saves_copy) {
    if (own_vote_.copied > will_copy) drop_joint_save({errc::cancelled, "rank 0 makes no save"});
    return;
  }
  if (last.is_copied && !last.is_same_copy) refuse_differences();
  if (!joint_) return;
  if (last.cancels && joint_->phase != save_phase::publishing)
    return drop_joint_save({errc::cancelled, "cancelled for a newer save or the end of the run"});
  if (last.begun != 0 && last.slowest == save_phase::copied)
    join_joint_save(ranks_.broadcast(joint_->begun, 0, last.begun));
  if (last.slowest == save_phase::prepared) publish_joint_save();
  if (last.published != 0) joint_->is_merge ? end_joint_merge(last.published) : end_joint_save(last.published);
}

/// Throws the error of the lowest rank that has failed, at all ranks, where the options say so; or all keep it, and try again.
void session::fail_together(const verdict& last) {
  auto mine = std::exchange(own_failure_, std::nullopt);
  const bool is_counted = mine.has_value();
  if (!mine && joint_ && joint_->has_failed()) mine = joint_->failure;
  std::optional<error> agreed;
  try {
    ranks_.all([&] {
      if (mine) throw error(*mine);
    });
  } catch (const error& cause) {
    agreed = cause;
  }
  if (ranks_.is_broken()) throw error(*agreed);
  if (!is_counted) record_.count([](save_stats& all) { ++all.failed; });
  const bool is_of_save =
      last.has_failed || own_vote_.copied > will_copy;  // the running save or merge, or the copy of this call
  const bool is_of_merge = is_of_save && joint_ && joint_->is_merge;
  const bool keeps = options_.on_failure == when_failed::keep_training;
  const bool tries_again = last.has_failed && !is_of_merge && ranks_.from_leader([&] { return is_retried(*agreed); });
  if ((keeps && !is_of_merge) || tries_again) {
    policy_.delay_retry(is_of_save);
    is_pausing_ = true;
  }
  if (is_of_save) drop_joint_save(*agreed);
  const bool is_of_caller = agreed->code() == errc::stale || agreed->code() == errc::mismatch;
  if (tries_again) kept_failure_ = agreed;
  if ((!keeps && !tries_again) || is_of_caller) throw error(*agreed);
}

/// After an error that may have left the ranks with different plans or parents.
void session::forget_chain() noexcept {
  shares_.forget();
  series_.forget_chain();
}

/// The ranks have copied different states, or not all have copied theirs.
void session::refuse_differences() {
  try {
    ranks_.require_same("the decision to save", own_vote_.copied != 0 ? "save" : "no save");
    if (joint_) ranks_.require_same_list("the state", common_texts(*joint_->save->job));
    fail(errc::mismatch, {"the ranks have different plans of the save; the next one is whole"});
  } catch (const error& cause) {
    drop_joint_save(cause);
    forget_chain();
    throw;
  }
}

/// Finishes the running save, or cancels it, as `on_destruction` says. If an exception destroys the checkpointer, tells the other ranks, which then
/// throw errc::lost_rank.
void session::end_rounds() noexcept {
  if (ranks_.is_alone()) return;
  try {
    if (std::uncaught_exceptions() > exceptions_) {
      ranks_.wait_at_most(std::chrono::seconds(10));
      try {
        if (has_verdict()) end_round();
      } catch (...) {  // of a save; if the team is broken, the next round throws it, too
      }
      begin_round("the end", {.is_leaving = true});
      static_cast<void>(take_verdict());  // the others act on it, and take part in nothing more
    } else {
      const bool cancels = options_.on_destruction == when_destroyed::cancel;
      may_merge_ = !cancels;
      if (has_verdict()) end_round();
      if (joint_ && !(cancels && joint_->phase != save_phase::publishing)) run_rounds("the end");
    }
    drop_joint_save({errc::cancelled, "cancelled for the end of the run"});
  } catch (...) {
    drop_joint_save(as_error(std::current_exception(), "the end of the run"));
  }
}

}  // namespace cairn::inline v0_1::detail
