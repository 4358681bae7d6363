// SPDX-License-Identifier: MIT
// Cells, contestants and threads.
#include "schedule/grid.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "cairn/schedule/fits/estimators.hpp"
#include "schedule/by_objective.hpp"
#include "schedule/optimum.hpp"
#include "cairn/schedule/policies.hpp"

#include "common/report.hpp"

namespace bench {
namespace {

namespace policies = cairn::policies;
using cairn::any_policy;
using schedule::objective;
using schedule::save_times;
using std::chrono::duration;

/// Saves after these steps, whatever happens.
struct fixed_plan {
  std::vector<std::uint32_t> saves;  // rising

  [[nodiscard]] bool should_save(const cairn::moment& now) const {
    const auto next = std::upper_bound(saves.begin(), saves.end(), static_cast<std::uint32_t>(now.saved_step));
    return next != saves.end() && now.step >= *next;
  }
};

/// Of COCI's rule: the times of iterations have the number of workers in them, and the loss falls by the step.
constexpr double speedup_power = 0;

/// Saves as another policy does, and keeps the steps.
struct recorder {
  any_policy inner;
  std::shared_ptr<std::vector<std::uint32_t>> saves;

  cairn::decision should_save(const cairn::moment& now) {
    const auto decided = inner.should_save(now);
    if (decided) saves->push_back(static_cast<std::uint32_t>(now.step));
    return decided;
  }
  void saved(const cairn::save_cost& cost) { inner.saved(cost); }
};

/// The estimator of those who know.
struct known_curve {
  cairn::loss_curve truth;
  void observe(double /*step*/, double /*loss*/) {}
  [[nodiscard]] std::optional<cairn::loss_curve> curve() const { return truth; }
};

cairn::mtbf_prior mtbf_of(const cell& where) { return cairn::known_mtbf(duration<double>(3600 * where.hours)); }

schedule::any_early_stop stops_of(const cell& where) {
  if (where.stops_early) return schedule::early_stops::uniform{0.4, 0.6};
  return schedule::early_stops::none{};
}

duration<double> run_time_of(const cell& where) {
  const auto seconds = scenario_of(where, {}, 0).work.seconds;
  return duration<double>(std::accumulate(seconds.begin(), seconds.end(), 0.0));
}

any_policy optimum_in(const cell& where, objective what) {
  const auto job = scenario_of(where, {.stall = where.stall}, 0);
  return fixed_plan{
      schedule::optimum(schedule::cost_model_of(what, job.work, {.stall = where.stall}, job.failures, job.stops))
          .saves};
}

}  // namespace

std::string cell::name() const {
  return text_of(stall) + " s, " + text_of(hours, 0) + " h, " + (stops_early ? "stopped" : "full") +
         (loses_workers ? ", 4-2-1" : ", 1") + (falls_steeply ? ", steep" : ", gentle");
}

std::vector<cell> all_cells() {
  std::vector<cell> all;
  for (const bool steep : {true, false})
    for (const bool workers : {false, true})
      for (const bool stops : {false, true})
        for (std::size_t i = 0; i < stalls.size(); ++i)
          for (const double hours : mtbf_hours) all.push_back({i, stalls[i], hours, stops, workers, steep});
  return all;
}

cairn::loss_curve curve_of(const cell& where) {
  const double tenfold_in = (where.falls_steeply ? 0.2 : 1.0) * static_cast<double>(iterations);
  return {cairn::loss_curve::family::exponential, {-std::log(10.0) / tenfold_in, 0, 0, 0}};
}

schedule::scenario scenario_of(const cell& where, const save_times& saving, double loss_noise) {
  schedule::workload job;
  const auto curve = curve_of(where);
  for (std::size_t k = 0; k <= iterations; ++k) {
    job.loss.push_back(curve.at(static_cast<double>(k)));
    if (k == iterations) break;
    const double workers = !where.loses_workers ? 1 : k < iterations / 3 ? 4 : k < 2 * iterations / 3 ? 2 : 1;
    job.workers.push_back(workers);
    job.seconds.push_back(where.loses_workers ? 6 / workers : 3);
  }
  return {.work = std::move(job),
          .failures = schedule::failures::exponential{duration<double>(3600 * where.hours)},
          .stops = stops_of(where),
          .kinds = schedule::every_kind(saving),
          .loss_noise = loss_noise};
}

std::vector<std::uint32_t> saves_of(schedule::scenario job, const any_policy& policy) {
  job.failures = schedule::failures::never{};
  job.stops = schedule::early_stops::none{};
  auto saves = std::make_shared<std::vector<std::uint32_t>>();
  static_cast<void>(schedule::simulate(job, recorder{policy, saves}, {.jobs = 1}));
  return *saves;
}

std::vector<contestant> informed_policies() {
  const auto told = [](const cell& where) { return std::optional(duration<double>(where.stall)); };
  return {
      {"every_epoch", "every 1/50 of the plan", false,
       [](const cell&, objective) -> any_policy { return policies::every_steps{iterations / 50}; }},
      {"young", "Young", false,
       [=](const cell& c, objective) -> any_policy { return policies::young({.mtbf = mtbf_of(c), .stall = told(c)}); }},
      {"daly", "Daly", false,
       [=](const cell& c, objective) -> any_policy { return policies::daly({.mtbf = mtbf_of(c), .stall = told(c)}); }},
      {"checkfreq", "CheckFreq", false, [](const cell&, objective) -> any_policy { return policies::checkfreq(); }},
      {"coci", "COCI", false,
       [=](const cell& c, objective) -> any_policy {
         return policies::coci({.mtbf = mtbf_of(c),
                                .stall = told(c),
                                .estimator = known_curve{curve_of(c)},
                                .speedup_power = speedup_power});
       }},
      {"optimal", "optimal", true,
       [=](const cell& c, objective what) -> any_policy {
         return schedule::by_objective({.what = what,
                                        .last_step = iterations,
                                        .run_time = run_time_of(c),
                                        .mtbf = mtbf_of(c),
                                        .stall = told(c),
                                        .stops = stops_of(c),
                                        .estimator = known_curve{curve_of(c)}});
       }},
      {"optimum", "optimum", true, optimum_in},
  };
}

std::vector<contestant> measuring_policies() {
  return {
      {"young", "Young", false,
       [](const cell& c, objective) -> any_policy { return policies::young({.mtbf = mtbf_of(c)}); }},
      {"checkfreq", "CheckFreq", false, [](const cell&, objective) -> any_policy { return policies::checkfreq(); }},
      {"coci", "COCI", false,
       [](const cell& c, objective) -> any_policy {
         return policies::coci(
             {.mtbf = mtbf_of(c), .estimator = cairn::estimators::exponential(), .speedup_power = speedup_power});
       }},
      {"optimal", "optimal", true,
       [](const cell& c, objective what) -> any_policy {
         return schedule::by_objective({.what = what,
                                        .last_step = iterations,
                                        .mtbf = mtbf_of(c),
                                        .stops = stops_of(c),
                                        .estimator = cairn::estimators::best_of{}});
       }},
      {"optimum", "optimum", true, optimum_in},
  };
}

void simulate_grid(std::span<const cell> cells, std::span<const contestant> contestants,
                   std::span<const objective> objectives,
                   const std::function<schedule::scenario(const cell&, const contestant&)>& job, std::size_t jobs,
                   unsigned threads, const std::function<void(const comparison&)>& visit) {
  std::mutex one_at_a_time;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < cells.size(); i = next++) {
      std::map<std::string, schedule::simulation> shared;
      for (const auto what : objectives) {
        comparison made{cells[i], what, {}};
        for (const auto& each : contestants) {
          const auto simulated = [&] {
            return schedule::simulate(job(cells[i], each), each.make(cells[i], what), {.jobs = jobs, .seed = i + 1});
          };
          if (each.by_objective) {
            made.results.push_back(simulated());
          } else {
            if (!shared.contains(each.key)) shared[each.key] = simulated();
            made.results.push_back(shared.at(each.key));
          }
        }
        const std::lock_guard lock(one_at_a_time);
        visit(made);
      }
    }
  };
  {
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < threads; ++t)
      all.emplace_back([&] {
        try {
          work();
        } catch (...) {
          const std::lock_guard lock(one_at_a_time);
          failure = std::current_exception();
        }
      });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace bench
