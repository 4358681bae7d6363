// SPDX-License-Identifier: MIT
// Definitions of session.hpp: how much memory a save may take, and into how many parts it is cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>

#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/run/own_state.hpp"
#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"

namespace cairn::inline v0_1::detail {

/// What part of the save fits into the memory that is left; nothing if all fits. `copied`: bytes of its largest copy, 0 without one. `share`: the
/// part of the state that is encoded at a time. The staging buffer counts as free. Less than 1 MiB is not looked at.
std::optional<memory_fit> session::fit_save(const save_job& job, std::uint64_t copied, double share) const {
  const auto own = memory_to_encode(job.what.leaves, job.codecs, copied != 0);
  const auto encoded = static_cast<std::uint64_t>(share * static_cast<double>(own.encoded));
  const auto beside = series_.has_references() ? 0 : own.references / ranks_.size();
  const auto there = std::min(copied, staging_.capacity());
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  if (copied - there + encoded + beside < mebibyte) return std::nullopt;
  auto left = memory_left_now();
  left.bytes += std::min(there, std::numeric_limits<std::uint64_t>::max() - left.bytes);
  return fit_memory(left, copied + encoded, beside);
}

/// The copy of the state: in parts where the options ask for it, or memory is short.
staging_plan session::plan_copy(const save_job& job) const {
  const auto cut = [&](std::optional<std::uint64_t> limit) {
    return plan_staging(staging_, job.what.leaves, options_.shards, limit);
  };
  auto plan = cut(options_.max_staging_bytes);
  const auto fits = fit_save(job, plan.bytes, plan.in_parts ? 1 / static_cast<double>(plan.shards.size()) : 1.0);
  if (!fits) return plan;
  plan = cut(static_cast<std::uint64_t>(fits->part * static_cast<double>(plan.bytes)));
  plan.reason = ": " + fits->reason + "; max_staging_bytes sets the size of a part";
  return plan;
}

/// What part fits of a save without a copy: 1 is all; 0: not even a small one, so that the save would throw errc::no_memory.
double session::part_to_encode(const save_job& job) const noexcept {
  try {
    const auto fits = fit_save(job, 0, 1);
    return fits ? fits->part : 1;
  } catch (...) {
    return 0;
  }
}

/// Into how many parts a save is cut that the trainer waits for; 0: it is not cut. Reports it, and an error.
std::size_t session::parts_of(const save_job& job) {
  try {
    const auto fits = fit_save(job, 0, 1);
    if (!fits) return 0;
    const auto parts = static_cast<std::size_t>(1 / fits->part) + 1;
    auto what = series_.about(event::kind::staged_in_parts, job);
    what.message = "encoded in " + std::to_string(parts) + " parts: " + fits->reason;
    record_.emit(what);
    return parts;
  } catch (...) {
    throw error(series_.failed(series_.about(event::kind::failed, job), std::current_exception()));
  }
}

/// Bytes of the copy that a save makes.
std::uint64_t session::bytes_to_stage(any_state state) {
  save_job job;
  job.what = describe(state, {ranks_.rank(), ranks_.size()});
  job.codecs = options_.codecs;
  if (ranks_.is_alone()) return plan_copy(job).bytes;
  const auto& leaves = job.what.leaves;
  separate_own(job, ranks_.rank());
  const auto bytes =
      staging::bytes_for(leaves, staging_.plan(leaves, share_of(job, shares_.plan_for(job), ranks_.rank())));
  return fit_save(job, bytes, 1.0 / ranks_.size()) ? 0 : bytes;
}

/// Pre-faults the staging buffer in the background, so that the first save does not wait for it. Errors are left to the first save.
void session::prepare(any_state state) noexcept {
  if (!options_.asynchronous || prepared_ || saving_) return;
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
