// SPDX-License-Identifier: MIT
// Definitions of session.hpp: how much memory a save may take, and into how many parts it is cut.
#pragma once

#include <algorithm>
#include <tuple>

#include "cairn/run/own_state.hpp"
#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"

namespace cairn::inline v0_1::detail {

/// What part of the save fits into the memory that is left (fit_memory). `copied`: bytes of its largest copy, 0 without
/// one. `share`: the part of the state that is encoded at a time. The staging buffer counts as free.
std::optional<memory_fit> session::fit_save(const save_job& job, std::uint64_t copied, double share) const {
  const auto own = memory_to_encode(job.what.leaves, job.codecs, copied != 0);
  const auto encoded = static_cast<std::uint64_t>(share * static_cast<double>(own.encoded));
  const auto references = history_.base().has_references() ? 0 : own.references / ranks_.size();
  return fit_memory(copied + encoded, references, std::min(copied, staging_.capacity()));
}

/// The copy of what this process writes: in parts if the options ask for it, or memory is short; of a share as a whole.
staging_plan session::plan_copy(const work& save) const {
  const auto& job = *save.job;
  const auto& leaves = job.what.leaves;
  if (!ranks_.is_alone()) {
    staging_plan plan{.shards = {staging_.plan(leaves, save.share.pieces)}};
    plan.bytes = staging::bytes_for(leaves, plan.shards.front());
    if (const auto fits = fit_save(job, plan.bytes, 1.0 / ranks_.size()))
      fail(errc::no_memory,
           {fits->reason, "; the share of a rank is copied as a whole: use more memory or more ranks"});
    return plan;
  }
  const auto cut = [&](std::optional<std::uint64_t> limit) {
    return plan_staging(staging_, leaves, options_.shards, limit);
  };
  auto plan = cut(options_.max_staging_bytes);
  const auto fits = fit_save(job, plan.bytes, plan.in_parts ? 1 / static_cast<double>(plan.shards.size()) : 1.0);
  if (!fits) return plan;
  plan = cut(static_cast<std::uint64_t>(fits->part * static_cast<double>(plan.bytes)));
  plan.reason = ": " + fits->reason + "; max_staging_bytes sets the size of a part";
  return plan;
}

/// Whether a save without a copy would find memory for a part of it, at least.
bool session::has_memory_to_encode(const save_job& job) const noexcept {
  try {
    std::ignore = fit_save(job, 0, 1);
    return true;
  } catch (...) {
    return false;
  }
}

/// Into how many parts a save is cut that the trainer waits for; 0: it is not cut. Reports it, and an error.
std::size_t session::parts_of(const save_job& job) {
  try {
    const auto fits = fit_save(job, 0, 1);
    if (!fits) return 0;
    const auto parts = number_of_parts(*fits);
    const auto text = "encoded in " + std::to_string(parts) + " parts: " + fits->reason;
    record_.emit(history_.about(event::kind::staged_in_parts, job, text));
    return parts;
  } catch (...) {
    throw error(failed(job.info.step, std::current_exception()));
  }
}

/// Bytes of the copy that a save makes.
std::uint64_t session::bytes_to_stage(any_state state) {
  work save;
  save.job = std::make_shared<save_job>();
  save.job->what = describe(state, {ranks_.rank(), ranks_.size()});
  save.job->codecs = options_.codecs;
  if (!ranks_.is_alone()) {
    separate_own(*save.job, ranks_.rank());
    save.share.pieces = share_of(*save.job, shares_.plan_for(*save.job), ranks_.rank());
  }
  return plan_copy(save).bytes;
}

/// Pre-faults the staging buffer in the background: the first save need not wait for it. Leaves errors to that save.
void session::prepare(any_state state) noexcept {
  if (!options_.asynchronous || prepared_ || work_) return;
  const policy_driver::pause preparing(policy_);
  prepared_ = true;
  try {
    background_.wait();
    const auto bytes = bytes_to_stage(state);
    background_.start([this, bytes] {
      try {
        staging_.reserve(bytes, 1);
      } catch (...) {  // the first save reserves again
      }
    });
  } catch (...) {  // the first save describes and plans again
  }
}

}  // namespace cairn::inline v0_1::detail
