// Definitions of worth.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/schedule/worth.hpp"

namespace cairn::schedule {
namespace detail {

inline void check(const course& job) {
  const auto fits = [&](const std::vector<double>& list, std::size_t size, const char* what) {
    if (list.empty() || list.size() == size) return;
    fail(errc::invalid, {"a course of ", std::to_string(job.steps()), " iterations has ", std::to_string(list.size()),
                         " entries of ", what});
  };
  fits(job.loss, job.steps() + 1, "loss");
  fits(job.workers, job.steps(), "workers");
  for (const double seconds : job.seconds)
    if (!(seconds > 0) || !std::isfinite(seconds))
      fail(errc::invalid, {"an iteration of a course takes ", std::to_string(seconds), " seconds"});
}

/// T |l'| / D seconds of each iteration, at which a second is worth 1 in the mean; empty where the loss does not fall.
[[nodiscard]] inline std::vector<double> progress(const course& job) {
  std::vector<double> made(job.loss.empty() ? 0 : job.steps());
  double total = 0, seconds = 0;
  for (std::size_t k = 0; k < made.size(); ++k) {
    const double fall = job.loss[k] - job.loss[k + 1];
    made[k] = std::isfinite(fall) ? std::max(fall, 0.0) : 0;
    total += made[k];
    seconds += job.seconds[k];
  }
  if (!(total > 0) || !std::isfinite(total)) return {};
  for (auto& each : made) each *= seconds / total;
  return made;
}

}  // namespace detail

CAIRN_INLINE worth worth_of(objective what, const course& job) {
  detail::check(job);
  const std::size_t steps = job.steps();
  const bool by_loss = what == objective::progress || what == objective::exploratory || what == objective::coci;
  const auto made = by_loss ? detail::progress(job) : std::vector<double>{};
  const auto work_of = [&](std::size_t k) {
    if (what == objective::worker_seconds) return job.seconds[k] * job.workers_at(k);
    return made.empty() ? job.seconds[k] : made[k];
  };
  const auto price_in = [&](std::size_t k) { return what == objective::exploratory ? 1 : work_of(k) / job.seconds[k]; };

  worth all{std::vector<double>(steps + 1, 1), std::vector<double>(steps + 1, 0)};
  for (std::size_t k = 0; k < steps; ++k) all.work[k + 1] = all.work[k] + work_of(k);
  for (std::size_t k = 0; k <= steps && steps > 0; ++k)  // the slope at a boundary: of what lies on both sides of it
    all.wait[k] = (price_in(k == 0 ? 0 : k - 1) + price_in(k == steps ? k - 1 : k)) / 2;
  return all;
}

}  // namespace cairn::schedule
