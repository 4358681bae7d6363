// SPDX-License-Identifier: MIT
// Runs without failures, restarts, and their statistics.
#include "rework/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

#include "cairn/core/checksum.hpp"

#include "common/statistics.hpp"

namespace bench::rework {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

/// XXH3 of all arrays.
std::uint64_t checksum_of(const models::snapshot& state) {
  cairn::detail::running_checksum sum;
  for (const auto* arrays : {&state.weights, &state.slots})
    for (const auto& each : *arrays)
      sum.add(std::as_bytes(std::span(each.data(), static_cast<std::size_t>(each.size()))));
  return sum.value();
}

/// The statistic of the seeds, and its interval over samples of the seeds.
template <class Statistic>
estimate bootstrap(std::size_t seeds, const Statistic& of) {
  std::vector<std::size_t> chosen(seeds);
  for (std::size_t i = 0; i < seeds; ++i) chosen[i] = i;
  const double mean = of(chosen);
  std::mt19937_64 rng(17);
  std::vector<double> samples(2000);
  for (auto& sample : samples) {
    for (auto& seed : chosen) seed = static_cast<std::size_t>(rng() % seeds);
    sample = of(chosen);
  }
  if (!std::isfinite(mean)) return {none, none, none};
  std::sort(samples.begin(), samples.end());
  return {mean, samples[50], samples[1949]};
}

/// The mean over the failures of the chosen seeds.
double mean_over(const result& of, const std::vector<std::size_t>& seeds) {
  double sum = 0, count = 0;
  for (const auto seed : seeds) {
    sum += sum_of(of.rework[seed]);
    count += static_cast<double>(of.rework[seed].size());
  }
  return sum / count;
}

}  // namespace

undisturbed_run train_undisturbed(const models::setting& model, std::uint64_t seed) {
  const auto run = model.start(seed);
  undisturbed_run made;
  made.losses.push_back(run->loss());
  made.checkpoints.push_back(run->copy());
  while (run->iteration() < model.periods * model.period) {
    run->step();
    if (run->iteration() % model.evaluate == 0) made.losses.push_back(run->loss());
    if (run->iteration() % model.period == 0) made.checkpoints.push_back(run->copy());
  }
  made.test = run->test();
  if (!std::isfinite(made.losses.back()))
    throw std::runtime_error(model.name + " diverges: its loss at the end is not finite");
  if (made.losses.back() > 0.9 * made.losses.front())
    throw std::runtime_error(model.name + " does not learn: its loss falls from " +
                             std::to_string(made.losses.front()) + " to " + std::to_string(made.losses.back()) +
                             " only");
  return made;
}

std::vector<double> losses_until(models::training& run, double target, std::uint64_t evaluate, std::uint64_t limit) {
  std::vector<double> losses{run.loss()};
  try {
    for (std::uint64_t done = 0; done < limit && !(losses.back() <= target); done += evaluate) {
      for (std::uint64_t i = 0; i < evaluate; ++i) run.step();
      losses.push_back(run.loss());
    }
  } catch (const std::runtime_error&) {  // the run diverges
  }
  return losses;
}

double iterations_to(std::span<const double> losses, double target, std::uint64_t evaluate) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!(losses[i] <= target)) continue;
    if (i == 0) return 0;
    const double part = (losses[i - 1] - target) / (losses[i - 1] - losses[i]);
    return static_cast<double>(evaluate) * (static_cast<double>(i - 1) + part);
  }
  return none;
}

std::vector<std::uint64_t> failure_periods(std::uint64_t periods, std::size_t count) {
  std::vector<std::uint64_t> chosen;
  for (std::size_t i = 0; i < count && count < periods; ++i) {
    auto at = 1 + (periods - 1) * i / count;
    if (at % 10 == 0) ++at;
    if (at < periods && (chosen.empty() || at > chosen.back())) chosen.push_back(at);
  }
  if (chosen.size() < count)
    throw std::runtime_error(std::to_string(periods) + " periods are too few for " + std::to_string(count) +
                             " failures");
  return chosen;
}

bool fits(const std::vector<double>& spent, double share) {
  double credit = 0;
  return std::all_of(spent.begin(), spent.end(), [&](double bytes) {
    credit += share;
    const bool saves = credit > 0;
    credit -= bytes;
    return saves;
  });
}

void add_seed(const result& from, std::size_t seed, result& into) {
  into.rework.push_back(from.rework[seed]);
  into.delay.push_back(from.delay[seed]);
  into.share.push_back(from.share[seed]);
  into.stored_share.push_back(from.stored_share[seed]);
  into.spent.push_back(from.spent[seed]);
  into.save_seconds.push_back(from.save_seconds[seed]);
}

trial::trial(experiment how, const undisturbed_run& run, std::uint64_t seed)
    : how_(std::move(how)), run_(run), writing_(how_.model.start(seed)), restarted_(how_.model.start(seed)) {}

void trial::measure(const method& with, result& into) {
  writing_->go_to(run_.checkpoints.front());
  const auto writer = with.start(*writing_, how_.what);
  double elements = static_cast<double>(models::elements_of(run_.checkpoints.front().weights));
  if (how_.what == models::part::weights_and_optimizer)
    elements += static_cast<double>(models::elements_of(run_.checkpoints.front().slots));
  const double given = with.share * 4 * elements;
  double credit = 0, bytes = 0, saves = 0, seconds = 0;
  auto& rework = into.rework.emplace_back();
  auto& periods_spent = into.spent.emplace_back();
  for (std::uint64_t p = 1; p <= how_.failures.back(); ++p) {
    credit += given;
    if (credit > 0) {
      writing_->go_to(run_.checkpoints[p]);
      double spent = 0;
      seconds += seconds_of([&] { spent = writer->save(*writing_, credit); });
      credit -= spent, bytes += spent, ++saves;
      periods_spent.push_back(spent / (4 * elements));
    }
    if (!std::binary_search(how_.failures.begin(), how_.failures.end(), p)) continue;
    writer->restore(*restarted_);
    const auto found = restart(p);
    rework.push_back(found.rework);
    if (p == middle_failure()) into.delay.push_back(found.delay);
  }
  const auto periods = static_cast<double>(how_.failures.back());
  into.share.push_back(bytes / periods / (4 * elements));
  into.stored_share.push_back(bytes / saves / (4 * elements));
  into.save_seconds.push_back(seconds / saves);
}

trial::cost trial::restart(std::uint64_t period) {
  const auto state = restarted_->copy();
  const restored_state key{period, state.iteration, checksum_of(state)};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  return known_[key] = run_on(period);
}

trial::cost trial::run_on(std::uint64_t period) {
  const auto& model = how_.model;
  const auto failed = period * model.period, limit = 2 * failed + 20 * model.period;
  const auto undisturbed = std::span(run_.losses).subspan(static_cast<std::size_t>(failed / model.evaluate));
  const auto periods_to = [&](std::span<const double> losses, double loss) {
    return iterations_to(losses, loss, model.evaluate) / static_cast<double>(model.period);
  };
  const double target = undisturbed.front();
  if (period != middle_failure())
    return {periods_to(losses_until(*restarted_, target, model.evaluate, limit), target), none};
  const auto halfway = model.period * (model.periods - period) / 2;
  const double later = undisturbed[static_cast<std::size_t>(halfway / model.evaluate)];
  const auto losses =
      losses_until(*restarted_, std::min(target, later), model.evaluate, limit + model.period * model.periods);
  const double rework = periods_to(losses, target);
  return {rework <= static_cast<double>(2 * period + 20) ? rework : none,
          periods_to(losses, later) - periods_to(undisturbed, later)};
}

estimate mean_rework(const result& of) {
  return bootstrap(of.rework.size(), [&](const auto& seeds) { return mean_over(of, seeds); });
}

estimate rework_ratio(const result& top, const result& bottom) {
  return bootstrap(top.rework.size(),
                   [&](const auto& seeds) { return mean_over(top, seeds) / mean_over(bottom, seeds); });
}

std::size_t unreached(const result& of) {
  std::size_t count = 0;
  for (const auto& seed : of.rework)
    count += static_cast<std::size_t>(std::count_if(seed.begin(), seed.end(), [](double r) { return std::isnan(r); }));
  return count;
}

double whole_rework(const result& of) {
  double sum = 0, count = 0;
  for (const auto& seed : of.rework)
    for (const double periods : seed) sum += std::ceil(periods), count += 1;
  return sum / count;
}

double mean_of(const std::vector<double>& values) { return sum_of(values) / static_cast<double>(values.size()); }

}  // namespace bench::rework
