// SPDX-License-Identifier: MIT
// Definitions of workload.hpp.
#include <algorithm>
#include <cstddef>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "schedule/workload.hpp"

namespace bench::schedule {
namespace detail {

inline void check(const workload& job) {
  const auto fits = [&](const std::vector<double>& list, std::size_t size, const char* what) {
    if (list.empty() || list.size() == size) return;
    cairn::fail(cairn::errc::invalid,
                {"a workload of ", job.steps(), " iterations has ", list.size(), " entries of ", what});
  };
  fits(job.loss, job.steps() + 1, "loss");
  fits(job.workers, job.steps(), "workers");
  for (const double seconds : job.seconds)
    if (!(seconds > 0) || !cairn::detail::is_finite(seconds))
      cairn::fail(cairn::errc::invalid, {"an iteration of a workload takes ", std::to_string(seconds), " seconds"});
}

/// T |l'| / D times the seconds of each iteration, with a mean of 1 per second; empty where the loss does not fall.
[[nodiscard]] inline std::vector<double> progress(const workload& job) {
  std::vector<double> made(job.loss.empty() ? 0 : job.steps());
  double total = 0, seconds = 0;
  for (std::size_t k = 0; k < made.size(); ++k) {
    const double fall = job.loss[k] - job.loss[k + 1];
    made[k] = cairn::detail::is_finite(fall) ? std::max(fall, 0.0) : 0;
    total += made[k];
    seconds += job.seconds[k];
  }
  if (!(total > 0) || !cairn::detail::is_finite(total)) return {};
  for (auto& each : made) each *= seconds / total;
  return made;
}

}  // namespace detail

prices prices_of(objective what, const workload& job) {
  detail::check(job);
  const std::size_t steps = job.steps();
  const auto made = is_by_loss(what) ? detail::progress(job) : std::vector<double>{};
  const auto work_of = [&](std::size_t k) {
    if (what == objective::worker_seconds) return job.seconds[k] * job.workers_at(k);
    return made.empty() ? job.seconds[k] : made[k];
  };
  const auto price_in = [&](std::size_t k) { return what == objective::exploratory ? 1 : work_of(k) / job.seconds[k]; };

  prices all{std::vector<double>(steps + 1, 1), std::vector<double>(steps + 1, 0)};
  for (std::size_t k = 0; k < steps; ++k) all.work[k + 1] = all.work[k] + work_of(k);
  for (std::size_t k = 0; k <= steps && steps > 0; ++k)  // the mean of the two iterations at the boundary
    all.wait[k] = (price_in(k == 0 ? 0 : k - 1) + price_in(k == steps ? k - 1 : k)) / 2;
  return all;
}

}  // namespace bench::schedule
