// SPDX-License-Identifier: MIT
// Runs without failures, restarts, and their statistics.
#include "rework/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "common/statistics.hpp"

namespace bench::rework {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

/// Iterations from `from` on until the undisturbed run has this loss; NaN if it never has.
double undisturbed_iterations(const undisturbed_run& run, std::uint64_t evaluate, std::uint64_t from, double target) {
  const auto first = static_cast<std::size_t>(from / evaluate);
  for (std::size_t i = first; i < run.losses.size(); ++i) {
    if (run.losses[i] > target) continue;
    if (i == first) return 0;
    const double part = (run.losses[i - 1] - target) / (run.losses[i - 1] - run.losses[i]);
    return static_cast<double>(evaluate) * (static_cast<double>(i - first - 1) + part);
  }
  return none;
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

std::optional<double> iterations_to(models::training& run, double target, std::uint64_t evaluate, std::uint64_t limit) {
  double before = run.loss();
  if (before <= target) return 0.0;
  try {
    for (std::uint64_t done = 0; done < limit; done += evaluate) {
      for (std::uint64_t i = 0; i < evaluate; ++i) run.step();
      const double now = run.loss();
      if (now <= target)
        return static_cast<double>(done) + static_cast<double>(evaluate) * (before - target) / (before - now);
      before = now;
    }
  } catch (const std::runtime_error&) {  // the run diverges
  }
  return std::nullopt;
}

std::vector<std::uint64_t> failure_periods(std::uint64_t periods, std::size_t count) {
  std::vector<std::uint64_t> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    auto at = 1 + (periods - 1) * i / count;
    if (at % 10 == 0) ++at;
    if (chosen.empty() || at > chosen.back()) chosen.push_back(at);
  }
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

void measure(const experiment& how, const undisturbed_run& run, std::uint64_t seed, const method& with, result& into) {
  const auto& model = how.model;
  const auto period = static_cast<double>(model.period);
  const auto writing = model.start(seed), restarted = model.start(seed);
  const auto writer = with.start(*writing, how.what);
  double elements = static_cast<double>(models::elements_of(run.checkpoints.front().weights));
  if (how.what == models::part::weights_and_optimizer)
    elements += static_cast<double>(models::elements_of(run.checkpoints.front().slots));
  const double given = with.share * 4 * elements;
  double credit = 0, bytes = 0, saves = 0, seconds = 0;
  auto& rework = into.rework.emplace_back();
  auto& periods_spent = into.spent.emplace_back();
  for (std::uint64_t p = 1; p <= how.failures.back(); ++p) {
    credit += given;
    if (credit > 0) {
      writing->go_to(run.checkpoints[p]);
      double spent = 0;
      seconds += seconds_of([&] { spent = writer->save(*writing, credit); });
      credit -= spent, bytes += spent, ++saves;
      periods_spent.push_back(spent / (4 * elements));
    }
    if (!std::binary_search(how.failures.begin(), how.failures.end(), p)) continue;
    const auto failed = p * model.period;
    const double target = run.losses[static_cast<std::size_t>(failed / model.evaluate)];
    writer->restore(*restarted);
    const auto limit = 2 * failed + 20 * model.period;
    const auto iterations = iterations_to(*restarted, target, model.evaluate, limit);
    rework.push_back(iterations ? *iterations / period : none);
    if (p != how.failures[how.failures.size() / 2]) continue;
    const double later =
        run.losses[static_cast<std::size_t>((failed + model.period * (model.periods - p) / 2) / model.evaluate)];
    writer->restore(*restarted);
    const double without = undisturbed_iterations(run, model.evaluate, failed, later);
    const auto reached = iterations_to(*restarted, later, model.evaluate, limit + model.period * model.periods);
    into.delay.push_back(reached ? (*reached - without) / period : none);
  }
  const auto periods = static_cast<double>(how.failures.back());
  into.share.push_back(bytes / periods / (4 * elements));
  into.stored_share.push_back(bytes / saves / (4 * elements));
  into.save_seconds.push_back(seconds / saves);
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
