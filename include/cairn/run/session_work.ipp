// SPDX-License-Identifier: MIT
// Definitions of session.hpp: the work under way: its phases, what runs them, how it ends, and how ranks agree on it.
//
// Each call of the trainer begins a round, in which all ranks vote. `step` leaves its round under way and takes its
// verdict at the next call; other calls run rounds until no work is left. What ranks do together follows from verdicts
// alone, so they do it in the same order: see obey(). A process without a group gets its own vote back at once, and
// acts on a signal or an error by it; its work in the background needs no votes.
#pragma once

#include <cassert>
#include <chrono>
#include <tuple>

#include "cairn/core/checksum.hpp"
#include "cairn/run/session.hpp"

namespace cairn::inline v0_1::detail {

/// Runs a phase of the work: in the background thread, or at once where the trainer waits for it, unless it needs the
/// messages of rounds. What fails is kept for the next vote.
template <class Phase>
void session::start_phase(Phase phase, bool needs_messages) {
  background_.wait();
  record_.touch();
  auto& current = *work_;
  const auto fails = [this, &current] {
    current.failure = failure_of(current);
    if (needs_no_votes()) fail_work(current, *current.failure);
  };
  const auto ends = [&current] {
    current.is_done = true;
    if (current.has_ended) end_handle(current);  // last: the checkpointer is ready for the next save then
  };
  const auto job = [this, &current, fails, ends, phase = std::move(phase)] {
    const stopwatch watch;
    try {
      phase(current);
    } catch (...) {
      fails();
    }
    if (!current.is_sync) record_.count([&](save_stats& stats) { stats.background_seconds += watch.seconds(); });
    ends();
  };
  current.is_done = false;
  if (current.is_sync && !needs_messages) return job();
  try {
    background_.start(job, needs_messages);
  } catch (...) {
    fails();
    ends();
  }
}

/// What is being thrown, as the failure of the work.
error session::failure_of(const work& current) const noexcept {
  const auto cause = std::current_exception();
  try {
    const auto& name = current.job ? current.job->name : history_.base().parent()->name;
    return as_error(cause, {store().location(), "/", name, " cannot be ",
                            current.is_published && !history_.hosts() ? "merged" : "saved"});
  } catch (...) {  // no memory for the location
    return as_error(cause, {"the save or merge"});
  }
}

/// Begins the work at the leader. Alone in the background, which is a merge, the same job finishes it.
void session::start() {
  work_->phase = save_phase::copied;
  work_->is_hang_reported = false;
  record_.touch();
  if (!ranks_.is_leader()) return;
  start_phase([this](work& current) {
    begin(current);
    if (!needs_no_votes()) return;
    write(current);
    finish_alone(current);
  });
}

// The phases.

/// At the leader: begins the checkpoint.
void session::begin(work& current) {
  if (!current.is_merge()) history_.prepare_for(*current.job);
  make_attempt(current);
  current.begun = current.attempt->begin();
  if (auto* const hosts = history_.hosts()) {  // the others remove everything else, as what a failed save has left
    auto texts = hosts->publications({});
    texts.push_back(std::move(current.begun));
    current.begun = join_texts(texts);
  }
}

/// At the others: joins the checkpoint.
void session::join(work& current, const std::string& begun) {
  std::string text(begun);
  if (history_.hosts()) {
    auto texts = split_texts(begun);
    text = std::move(texts.back());
    texts.pop_back();
    history_.keep_only(texts);
  }
  make_attempt(current);
  current.attempt->join(text);
}

/// Makes this process's attempt, from what is copied or to be merged.
void session::make_attempt(work& current) {
  auto& place = history_.store();
  if (current.is_merge())
    return static_cast<void>(
        current.attempt.emplace(place, history_.base().parent()->name, *current.merged_source, ranks_.rank()));
  auto& job = *current.job;
  job.hooks.report = [this, &job](event::kind what, std::uint64_t bytes, double seconds, const std::string& message) {
    history_.report(what, job, bytes, seconds, message);
  };
  current.state_source = ranks_.is_alone()
                             ? encode_state(place, job, current.shards_of_save, &history_.base())
                             : encode_state(place, job, ranks_.size(), &history_.base(), std::move(current.share));
  current.attempt.emplace(place, job.name, *current.state_source, ranks_.rank());
}

/// Writes the next shards of this process: of a save, those that are copied.
void session::write(work& current) {
  current.attempt->write(current.shards, current.one_by_one);
  current.shards.clear();
  if (!ranks_.is_alone()) current.record = current.attempt->record();
}

/// At the leader: publishes the checkpoint, of the records of all ranks.
void session::publish(work& current, std::span<const std::string> records) {
  assert(current.attempt && current.shards.empty());
  current.attempt->unite(records);
  if (!current.is_merge()) history_.check_replicas(*current.job, current.state_source->samples());
  current.made = current.attempt->publish();
  current.announcement = ranks_.is_alone() ? "1" : to_json(*current.made);  // "1": any text that is not empty
  if (!history_.hosts() || ranks_.is_alone()) complete(current);
}

/// At the leader: the checkpoint is published.
void session::complete(work& current) {
  note_published(current);
  if (!current.is_merge()) history_.copy_published(current.job->name);
  remove_unkept(history_.hosts() ? history_.plan_kept() : std::vector<std::string>());
}

/// Removes what retention does not keep, and where each host has a place of its own, everything but `kept`.
void session::remove_unkept(const std::vector<std::string>& kept) {
  if (ranks_.is_leader()) std::ignore = history_.checkpoints().prune();
  if (history_.hosts()) history_.keep_only(kept);
}

/// At the leader in `publish`, and then at the others: the checkpoint is published.
void session::note_published(work& current) {
  if (current.is_merge()) {
    history_.merged(current.merged_source->published(*current.made));
    record_.count([](save_stats& stats) { ++stats.merged; });
  } else {
    const auto report = std::make_shared<save_report>();
    *report = history_.saved(*current.job, current.state_source->published(*current.made));
    current.report = report;
  }
  current.attempt.reset();
}

/// A save is published at all ranks.
void session::count_save(work& save) {
  save.is_published = true;
  const auto& job = *save.job;
  const auto kind = save.report->is_delta         ? save_kind::delta
                    : save.kind == save_kind::raw ? save_kind::raw
                                                  : save_kind::whole;
  record_.set_newest({job.info.step, save.is_sync ? policy_.seconds() : save.times.began, save.report, kind,
                      save.is_sync, save.is_sync ? 0 : limiter_.held_back()});
}

/// Alone, in the background, after the last `write`: publishes, and makes the merge that is due.
void session::finish_alone(work& current) {
  publish(current, {});
  if (!current.is_merge()) {
    count_save(current);
    limiter_.count_anew();
    if (begin_merge(current)) {
      begin(current);
      write(current);
      publish(current, {});
    }
  }
  current.state_source.reset();
  current.job.reset();
  current.has_ended = true;
}

/// Turns a published save into the merge after it, if one is due: at all ranks, which have the same chain.
bool session::begin_merge(work& current) {
  if (!history_.is_merge_due() || !may_merge_ || is_stopping_) return false;
  current.merged_source = history_.source_of_merge(
      [this] {
        record_.touch();
        limiter_.check();
      },
      [this](std::uint64_t bytes, std::uint64_t /*total*/) { limiter_.wait_until_allowed(bytes); });
  current.state_source.reset();
  current.job.reset();  // frees the copies that the description holds
  current.begun.clear();
  current.announcement.clear();
  return true;
}

// How it ends.

/// Ends this process's work, because of an error of this or another rank: reports it, and leaves the store as it was.
void session::fail_work(work& current, const error& cause) noexcept {
  if (std::exchange(current.has_ended, true)) return;
  auto failure = cause;
  try {
    if (current.is_published) {
      current.attempt.reset();
      if (!history_.hosts()) history_.merge_failed(cause);
    } else {
      if (current.attempt) history_.checkpoints().note_failed_save(*current.job);  // it may have been published
      current.attempt.reset();
      const bool may_be_whole = ranks_.is_broken();  // the next run finds out
      if (history_.hosts() && current.phase >= save_phase::publishing && !may_be_whole) history_.hosts()->withdraw();
      current.state_source.reset();
      failure =
          history_.report_failure(history_.about(event::kind::failed, *current.job), std::make_exception_ptr(cause));
    }
  } catch (...) {  // the memory for the text of an event
  }
  current.failure = failure;
  if (cause.code() != errc::cancelled)
    record_.count([](save_stats& stats) { ++stats.failed; });
  else if (!current.is_published)
    record_.count([](save_stats& stats) { ++stats.skipped; });
}

/// The handle of the save is done, also after a merge that has failed.
void session::end_handle(const work& current) noexcept {
  if (current.is_published)
    current.result->published(current.report);
  else
    current.result->set_error(*current.failure);
}

/// Cancels the work at this rank.
void session::drop_work(const error& cause) {
  if (!work_) return;
  limiter_.cancel();
  if (work_->phase == save_phase::sending) history_.hosts()->cancel_sending();
  wait_for_background();
  const auto ended = std::move(work_);
  fail_work(*ended, cause);
  end_handle(*ended);
  learn();  // it may have been published before it could be cancelled
  policy_.fall_back(record_);
}

/// Cancels the work at all ranks. Alone, it may have failed before.
void session::cancel_work(const std::string& why) {
  if (needs_no_votes()) {
    limiter_.cancel();
    wait_for_background();
    if (work_->failure && work_->failure->code() != errc::cancelled)
      return fail_together({.most = {.has_failed = true}});
  }
  drop_work({errc::cancelled, why});
}

/// All is published.
void session::end_work() noexcept {
  const auto ended = std::move(work_);
  end_handle(*ended);
}

/// Waits for the background thread, and reports a hang.
void session::wait_for_background() noexcept {
  constexpr std::chrono::duration<double> least(0.001), most(1);
  while (!background_.wait_for(std::clamp(options_.hang_timeout.value_or(most), least, most))) report_hang();
}

/// Reports, once per save or merge, that it makes no progress. A save held back by the rate limit does not hang.
void session::report_hang() noexcept {
  if (!options_.hang_timeout || !work_ || work_->is_sync || work_->is_hang_reported || limiter_.is_holding()) return;
  const double idle = record_.idle_seconds();
  if (idle < options_.hang_timeout->count()) return;
  try {
    auto what = history_.about(event::kind::hanging, policy_.saved_step());
    what.seconds = idle;
    record_.emit(what);
    work_->is_hang_reported = true;
  } catch (...) {  // no memory: the next call reports it
  }
}

// The votes.

void session::begin_round(const std::string& call, vote mine) {
  learn();
  pass_messages();
  if (!ranks_.is_alone()) {
    const auto what = call + " of " + place_of_call();  // a group may have several checkpointers
    mine.call = checksum(std::as_bytes(std::span(what)));
  }
  if (const auto* const copies = history_.hosts() ? history_.copies() : nullptr) {
    request_ = copies->request();
    mine.asks = request_.size();
    mine.copies_done = copies->done();
  }
  mine.has_thrown = own_failure_.has_value();
  mine.pauses = ranks_.is_leader() && !policy_.may_save();
  mine.signal = static_cast<std::uint64_t>(options_.preempt.number());
  if (mine.signal == 0 && advise_before_end() == schedule::before_end::stop) mine.signal = time_limit;
  if (mine.signal != 0) {
    const double left = seconds_to_stop();
    mine.milliseconds_left = left > 0 ? static_cast<std::uint64_t>(1000 * left) : 0;
  }
  if (work_) {
    auto& current = *work_;
    const bool is_done = current.is_done;
    mine.has_failed = current.has_failed();
    auto reached = current.phase;
    if (is_done && !current.failure && !needs_no_votes()) {
      reached = end_of(reached);
      mine.begun = current.begun.size();
      mine.announced = current.announcement.size();
    }
    mine.phase = static_cast<std::uint64_t>(reached);
  }
  call_ = call;
  own_vote_ = mine;
  ranks_.begin_round(fill_ballot(mine));
}

/// Waits for the round.
verdict session::take_verdict() {
  if (deferred_) return *std::exchange(deferred_, std::nullopt);
  try {
    return read_ballots(ranks_.end_round());
  } catch (const error& cause) {
    drop_work(cause);
    throw;
  }
}

/// Ends the round of an earlier step. Then runs rounds, for the call `call` of all ranks, until no save or merge runs
/// in the background; or, `until_stop`, until a signal arrives. After `longest_seconds` the leader has it cancelled.
void session::run_rounds(const std::string& call, double longest_seconds, bool until_stop) {
  meet();
  if (has_verdict()) end_round();
  const stopwatch waited;
  while (true) {
    begin_round(call, {.cancels = ranks_.is_leader() && work_ && waited.seconds() > longest_seconds});
    end_round();
    if (!work_) return background_.wait();  // for the memory of the copy, see reserve_staging
    if (until_stop && is_stopping_) return;
    report_hang();
    constexpr std::chrono::duration<double> least(0.001), most(0.1);
    const std::chrono::duration<double> pause(is_sending() ? 0 : waited.seconds() / 16);
    static_cast<void>(background_.wait_for(std::clamp(pause, least, most)));
  }
}

/// All ranks act on a verdict in the same call.
void session::act_on(const verdict& last) {
  try {
    obey(last);
  } catch (const error& cause) {
    if (ranks_.is_broken()) drop_work(cause);
    throw;
  }
}

/// Acts on a verdict. After a signal the state is saved before the error of an earlier save is thrown.
void session::act_before_stop(const verdict& last) {
  try {
    act_on(last);
  } catch (const error& cause) {
    if (!is_stopping_ || ranks_.is_broken() || cause.code() == errc::mismatch) throw;
    kept_failure_ = cause;
  }
}

/// Decides what follows: an error of all ranks, the end of the work, or its next phase (advance).
void session::obey(const verdict& last) {
  is_pausing_ = last.most.pauses != 0;
  is_stopping_ = (is_stopping_ && !ranks_.is_alone()) || last.most.signal != 0;
  if (const auto leaving = ranks_.size() - last.most.leaving; last.most.leaving != 0 && leaving != ranks_.rank()) {
    const error lost(errc::lost_rank, sentence({"rank ", leaving, " has ended by an exception"}));
    ranks_.give_up(lost);
    throw error(lost);
  }
  if (!last.is_same_call()) {
    drop_work({errc::mismatch, "the ranks differ in the call"});
    ranks_.require_same("the call", call_);
    ranks_.require_same("the checkpointer of the call", place_of_call());
  }
  pass_requests(last);
  if (last.most.has_failed != 0 || last.most.has_thrown != 0) return fail_together(last);
  if (last.most.copied != 0 && last.most.saves_copy == 0) {
    if (own_vote_.copied > will_copy) drop_work({errc::cancelled, "rank 0 makes no save"});
    return;
  }
  if (!last.is_same_copy()) refuse_differences();
  if (!work_) return;
  try {
    advance(last);
  } catch (const error&) {
    throw;
  } catch (...) {
    // No memory for what follows. In a group the others have gone on: this rank leaves it by its exception.
    const auto cause = as_error(std::current_exception(), {store().location()});
    if (!work_) throw error(cause);
    if (!ranks_.is_alone()) {
      drop_work(cause);
      throw error(cause);
    }
    background_.wait();
    work_->failure = failure_of(*work_);
  }
}

/// Starts the next phase of the work, which all ranks have reached.
void session::advance(const verdict& last) {
  auto& current = *work_;
  if (last.most.cancels != 0 && current.phase < save_phase::publishing)
    return cancel_work("cancelled for a newer save or the end of the run");
  if (needs_no_votes()) {
    if (!current.is_done) return;
    background_.wait();
    return end_work();
  }
  assert(current.holds());
  if (last.most.begun != 0 && last.slowest() == save_phase::copied) {
    const auto begun = ranks_.broadcast(current.begun, 0, last.most.begun);
    current.phase = save_phase::writing;
    start_phase([this, begun](work& joined) {
      if (!ranks_.is_leader()) join(joined, begun);
      write(joined);
    });
  } else if (last.slowest() == save_phase::prepared) {
    background_.wait();
    const auto records = ranks_.gather([&] { return current.record; });
    current.phase = save_phase::publishing;
    if (ranks_.is_leader()) start_phase([this, records](work& written) { publish(written, records); });
  } else if (last.most.announced != 0) {
    background_.wait();
    const auto text = ranks_.broadcast(current.announcement, 0, last.most.announced);
    if (!ranks_.is_leader()) current.made = from_json<published_checkpoint>(text, "what rank 0 has published");
    if (history_.hosts() && !ranks_.is_alone()) return place(current);
    if (!ranks_.is_leader()) note_published(current);
    continue_published(current);
  } else if (last.slowest() == save_phase::placed) {
    send(current);
  } else if (last.slowest() == save_phase::sent) {
    background_.wait();
    const auto sent = ranks_.all_gather(current.is_sent ? 1 : 0);
    if (std::ranges::count(sent, 0U) == 0) history_.checkpoints().keep(current.job->name);
    tidy(current);
  } else if (last.slowest() == save_phase::tidied) {
    background_.wait();
    continue_published(current);
  }
}

/// The leader has published: the others do so, too, where each host has a place of its own.
void session::place(work& current) {
  current.announcement.clear();
  current.phase = save_phase::placing;
  start_phase([this](work& written) {
    if (!ranks_.is_leader()) written.attempt->place(written.made->index);
  });
}

/// All ranks have published: each sends to other hosts what the options ask for.
void session::send(work& current) {
  background_.wait();
  try {
    ranks_.all([&] {
      note_published(current);
      if (ranks_.is_leader()) history_.copy_published(current.job->name);
    });
  } catch (const error& cause) {  // no memory
    drop_work(cause);
    throw;
  }
  current.is_published = true;
  if (is_stopping_ || !history_.hosts()->begin_sending(current.made->index)) return tidy(current);
  current.phase = save_phase::sending;
  start_phase([this](work& published) { published.is_sent = history_.send(*published.job); }, true);
}

/// Each rank removes what the leader does not keep.
void session::tidy(work& current) {
  const auto kept = ranks_.from_leader([&] { return history_.plan_kept(); });
  current.phase = save_phase::tidying;
  start_phase([this, kept](work& /*published*/) { remove_unkept(kept); });
}

/// The checkpoint is published, and all ranks know it: ends the work, or begins the merge that is due.
void session::continue_published(work& current) {
  if (current.is_merge()) return end_work();
  if (!ranks_.is_alone()) shares_.saved(*current.job, std::move(current.made->stored));
  count_save(current);
  if (current.is_sync)
    current.result->published(current.report);
  else
    learn();
  limiter_.begin(options_.max_bytes_per_second);
  current.is_sync = false;  // the trainer does not wait for a merge
  if (!begin_merge(current)) return end_work();
  start();
}

/// Throws the error of the lowest failed rank, at all ranks, where the options say so; or all keep it, and try again.
void session::fail_together(const verdict& last) {
  auto mine = std::exchange(own_failure_, std::nullopt);
  const bool is_counted = mine.has_value();  // where it was thrown
  if (!mine && work_ && work_->has_failed()) mine = work_->failure;
  std::optional<error> agreed;
  try {
    ranks_.all([&] {
      if (mine) throw error(*mine);
    });
  } catch (const error& cause) {
    agreed = cause;
  }
  if (ranks_.is_broken()) throw error(*agreed);
  const bool is_of_save =
      last.most.has_failed != 0 || own_vote_.copied > will_copy;  // the running save or merge, or the copy of this call
  const bool is_of_merge = is_of_save && work_ && work_->is_published;
  const bool is_awaited = is_of_save && work_ && work_->is_sync;  // the trainer learns of it by this call
  const bool is_of_caller =
      agreed->code() == errc::mismatch || (agreed->code() == errc::stale && last.most.has_failed == 0);
  const bool keeps = options_.on_failure == when_failed::keep_training && !is_awaited && !is_of_caller;
  std::optional<double> left;  // seconds for which the storage may go on failing before its error is thrown
  if (last.most.has_failed != 0 && !is_of_merge && !is_awaited)
    left = ranks_.from_leader([&]() -> std::optional<double> {
      const auto patience = options_.retry_for.count();
      if (options_.on_failure != when_failed::raise || agreed->code() != errc::io || patience == 0) return std::nullopt;
      return patience - policy_.failing_seconds();
    });
  const bool tries_again = left > 0.0;
  if ((keeps && !is_of_merge) || left) {
    policy_.delay_retry(is_of_save, left);
    is_pausing_ = true;
  }
  if (is_of_save)
    drop_work(*agreed);
  else if (!is_counted)
    record_.count([](save_stats& all) { ++all.failed; });
  if (tries_again) kept_failure_ = agreed;
  if (!keeps && !tries_again) throw error(*agreed);
}

/// Reports the newest save to the policy once it is published. Earlier failures do not count then.
void session::learn() {
  if (policy_.learn(record_)) kept_failure_.reset();
}

/// The ranks have copied different states, or not all have copied theirs.
void session::refuse_differences() {
  try {
    ranks_.require_same("the decision to save", own_vote_.copied != 0 ? "save" : "no save");
    if (work_) ranks_.require_same_list("the state", [&] { return common_texts(*work_->job); });
    fail(errc::mismatch, {"the ranks have different plans of the save; the next one is whole"});
  } catch (const error& cause) {
    drop_work(cause);
    shares_.forget();
    history_.base().clear();
    throw;
  }
}

/// Finishes the running save, or cancels it, as `on_destruction` says. If an exception destroys the checkpointer, tells
/// the other ranks, which then throw errc::lost_rank.
void session::end_rounds() noexcept {
  if (ranks_.is_alone()) return;
  try {
    if (std::uncaught_exceptions() > exceptions_) {
      ranks_.wait_at_most(std::chrono::seconds(10));
      try {
        if (has_verdict()) end_round();
      } catch (...) {  // of a save; if the team is broken, the next round throws it, too
      }
      begin_round("the end", {.leaving = ranks_.size() - ranks_.rank()});
      static_cast<void>(take_verdict());  // the others act on it, and take part in nothing more
    } else {
      const bool cancels = options_.on_destruction == when_destroyed::cancel;
      may_merge_ = !cancels;
      if (has_verdict()) end_round();
      if (work_ && !(cancels && work_->phase < save_phase::publishing)) run_rounds("the end");
    }
    drop_work({errc::cancelled, "cancelled for the end of the run"});
  } catch (...) {
    drop_work(as_error(std::current_exception(), {"the end of the run"}));
  }
}

}  // namespace cairn::inline v0_1::detail
