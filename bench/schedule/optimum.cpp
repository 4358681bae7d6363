// SPDX-License-Identifier: MIT
// Definitions of optimum.hpp.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "cairn/core/error.hpp"
#include "schedule/optimum.hpp"

namespace bench::schedule {
namespace detail {

/// The lower envelope of lines that come with falling slopes, queried at rising x. Amortised O(1).
class lower_envelope {
 public:
  struct line {
    double slope = 0;
    double height = 0;  // at 0
    std::uint32_t name = 0;
  };

  explicit lower_envelope(std::size_t most) { lines_.reserve(most); }

  void add(const line& next) {
    if (lines_.size() > first_ && lines_.back().slope == next.slope) {
      if (lines_.back().height <= next.height) return;
      lines_.pop_back();
    }
    while (lines_.size() >= first_ + 2 && is_hidden(lines_[lines_.size() - 2], lines_.back(), next)) lines_.pop_back();
    lines_.push_back(next);
  }

  [[nodiscard]] const line& lowest_at(double x) {
    while (first_ + 1 < lines_.size() && height(lines_[first_ + 1], x) < height(lines_[first_], x)) ++first_;
    return lines_[first_];
  }

  [[nodiscard]] static double height(const line& of, double x) noexcept { return of.height + of.slope * x; }

 private:
  /// Whether the middle line is nowhere the lowest of the three.
  [[nodiscard]] static bool is_hidden(const line& a, const line& middle, const line& b) noexcept {
    return (b.height - a.height) * (a.slope - middle.slope) <= (middle.height - a.height) * (a.slope - b.slope);
  }

  std::vector<line> lines_;
  std::size_t first_ = 0;
};

/// The cost of failures if each lost all work so far: the part of the cost that no plan changes.
[[nodiscard]] inline double all_work_at_risk(const cost_model& of) {
  double sum = 0;
  for (std::size_t k = 0; k + 1 < of.risk.size(); ++k)
    sum += (of.risk[k + 1] - of.risk[k]) * (of.work[k] + of.work[k + 1]) / 2;
  return sum;
}

}  // namespace detail

cost_model cost_model_of(prices value, bool first_only, const workload& job, const save_times& saving,
                         const any_failures& failures, const any_early_stop& stops) {
  const std::size_t steps = job.steps();
  if (steps >= std::numeric_limits<std::uint32_t>::max())
    cairn::fail(cairn::errc::invalid, {"a workload of ", steps, " iterations"});
  const auto alive_at = [&](std::size_t boundary) {
    return stops.alive(static_cast<double>(boundary) / static_cast<double>(steps));
  };
  std::vector<double> time(steps + 1, 0);
  std::partial_sum(job.seconds.begin(), job.seconds.end(), time.begin() + 1);

  cost_model all{.risk = std::vector<double>(steps + 1, 0),
                 .exposed = {},
                 .work = std::move(value.work),
                 .save = std::move(value.wait),
                 .next = std::vector<std::uint32_t>(steps + 1)};
  double hazard = failures.expected(0), survives = 1;
  for (std::size_t k = 0; k < steps; ++k) {
    const double later = failures.expected(time[k + 1]);
    const double expected = std::max(later - hazard, 0.0) * job.workers_at(k);
    const double counted = first_only ? -survives * std::expm1(-expected) : expected;
    all.risk[k + 1] = all.risk[k] + counted * alive_at(k);
    survives *= std::exp(-expected);
    hazard = later;
  }
  const double price = std::max(saving.of_a_save(), 0.0), background = std::max(saving.background, 0.0);
  std::size_t k = 0;  // the iteration in which a save begun at `boundary` is published
  for (std::size_t boundary = 0; boundary <= steps; ++boundary) {
    all.save[boundary] *= price * alive_at(boundary);
    const double published = time[boundary] + (boundary == 0 ? 0 : background);  // the beginning needs no save
    while (k < steps && time[k + 1] < published) ++k;
    const double part = k < steps ? (published - time[k]) / job.seconds[k] : 0;
    all.exposed.push_back(k < steps ? all.risk[k] + part * (all.risk[k + 1] - all.risk[k]) : all.risk[steps]);
    all.next[boundary] = static_cast<std::uint32_t>(std::min(std::max(boundary, k) + 1, steps));
  }
  return all;
}

double expected_cost(const cost_model& of, std::span<const std::uint32_t> saves) {
  double cost = detail::all_work_at_risk(of), since = 0;
  std::uint32_t newest = 0;
  for (const auto save : saves) {
    cost += of.save[save] - of.work[newest] * (of.exposed[save] - since);
    newest = save;
    since = of.exposed[save];
  }
  return cost - of.work[newest] * (of.risk.back() - since);
}

plan optimum(const cost_model& of) {
  const auto steps = static_cast<std::uint32_t>(of.risk.size() - 1);
  if (steps == 0) return {};
  std::vector<double> cost(steps, 0);  // of the best plan up to a save there, without `all_work_at_risk`
  std::vector<std::uint32_t> before(steps, 0);
  detail::lower_envelope newest(steps);
  std::uint32_t can_be_newest = 0;  // all saves before this one are in the envelope
  const auto add = [&](std::uint32_t save) {
    newest.add({-of.work[save], cost[save] + of.work[save] * of.exposed[save], save});
  };
  for (std::uint32_t save = 1; save < steps; ++save) {
    while (can_be_newest < save && of.next[can_be_newest] <= save) add(can_be_newest++);
    const auto& best = newest.lowest_at(of.exposed[save]);
    cost[save] = of.save[save] + newest.height(best, of.exposed[save]);
    before[save] = best.name;
  }
  // A save that is published when nothing is at risk any more cannot pay.
  while (can_be_newest < steps && of.exposed[can_be_newest] < of.risk.back()) add(can_be_newest++);
  if (can_be_newest == 0) return {};  // there is no risk at all
  const auto& best = newest.lowest_at(of.risk.back());

  plan found{.cost = detail::all_work_at_risk(of) + newest.height(best, of.risk.back())};
  for (auto save = best.name; save > 0; save = before[save]) found.saves.push_back(save);
  std::reverse(found.saves.begin(), found.saves.end());
  return found;
}

}  // namespace bench::schedule
