// SPDX-License-Identifier: MIT
// From comparisons cell by cell to medians, intervals, tables and bars.
#include "schedule/tables.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cairn/schedule/fits/estimators.hpp"
#include "schedule/by_objective.hpp"
#include "schedule/optimum.hpp"
#include "cairn/schedule/policies.hpp"

#include "common/statistics.hpp"
#include "schedule/chart.hpp"
#include "schedule/grid.hpp"

namespace bench {
namespace {

using schedule::objective;
using schedule::outcome;
using schedule::overhead;
using schedule::save_times;
using schedule::simulation;

const auto& all_objectives = schedule::objectives;

double percent_less(double ours, double theirs) { return 100 * (1 - ours / theirs); }

double best(const std::vector<double>& of) {
  return of.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::max_element(of.begin(), of.end());
}
double worst(const std::vector<double>& of) {
  return of.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::min_element(of.begin(), of.end());
}

/// Rows of text, gathered in any order.
class cell_table {
 public:
  explicit cell_table(const std::vector<contestant>& columns) {
    header_ = {"objective", "stall, MTBF, end, workers, loss"};
    for (const auto& each : columns) header_.push_back(each.name);
  }

  template <class Mean>
  void add(const comparison& made, const Mean& mean) {
    std::vector<std::string> row{std::string(name(made.what)), made.where.name()};
    for (const auto& each : made.results) {
      const auto cost = mean(each);
      row.push_back(text_of(cost.mean, 1) + " +- " + text_of(cost.half_width(), 1));
    }
    rows_.push_back(std::move(row));
  }

  /// Nothing when `file` is empty.
  void write(const std::string& file) {
    if (file.empty()) return;
    std::sort(rows_.begin(), rows_.end());
    table all(header_);
    for (const auto& row : rows_) all.row(row);
    std::FILE* out = std::fopen(file.c_str(), "a");
    if (out == nullptr) throw std::runtime_error("cannot write " + file);
    all.print(out);
    if (std::fclose(out) != 0) throw std::runtime_error("cannot write " + file);
  }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// What each rule costs over the optimum, by objective and stall.
class rule_comparison {
 public:
  explicit rule_comparison(std::vector<contestant> rules) : rules_(std::move(rules)), cells_(rules_) {}

  void add(const comparison& made) {
    cells_.add(made, [&](const simulation& each) { return mean_of(each, made.what); });
    std::vector<double> cost;
    for (const auto& each : made.results) cost.push_back(mean_of(each, made.what).mean);
    const double least = cost.back();
    if (least > 0)
      for (std::size_t i = 0; i < rules_.size(); ++i) {
        over_optimum_[{made.what, i}].push_back(cost[i] / least);
        by_stall_[{made.what, i, made.where.stall_index}].push_back(cost[i] / least);
      }
    const double ours = cost[index_of("optimal")], young = cost[index_of("young")];
    if (made.what == objective::exploratory && made.where.falls_steeply) gain_.push_back(percent_less(ours, young));
    if (made.what == objective::machine_time) loss_.push_back(-percent_less(ours, young));
    const double known =
        std::min({cost[index_of("every_epoch")], young, cost[index_of("daly")], cost[index_of("checkfreq")]});
    coci_[{made.what, made.where.loses_workers}].push_back(percent_less(cost[index_of("coci")], known));
  }

  void finish(const table_setting& how, report& numbers) {
    cells_.write(how.file);
    print();
    draw(how.figure);
    const std::size_t ours = index_of("optimal");
    for (const auto what : all_objectives)
      numbers.at_most("optimal.gap." + std::string(name(what)), 100 * (median(over_optimum_[{what, ours}]) - 1), 2);
    numbers.at_least("timing.exploratory.reduction_vs_young", median(gain_), 38);
    numbers.number("timing.exploratory.reduction_vs_young.worst", worst(gain_));
    numbers.at_most("timing.machine_time.loss_vs_young", median(loss_), 0.5);
    for (const auto& [where, gains] : coci_) {
      const std::string key = "coci.reduction_vs_best_rule." + std::string(name(where.first)) +
                              (where.second ? ".data_parallel" : ".serial");
      numbers.number(key + ".median", median(gains));
      numbers.number(key + ".best", best(gains));
    }
  }

 private:
  [[nodiscard]] std::size_t index_of(const std::string& key) const {
    return static_cast<std::size_t>(
        std::find_if(rules_.begin(), rules_.end(), [&](const auto& r) { return r.key == key; }) - rules_.begin());
  }

  void print() {
    std::vector<std::string> header{"overhead / optimum's, median (greatest)"};
    for (const auto& each : rules_) header.push_back(each.name);
    table medians(header);
    for (const auto what : all_objectives) {
      std::vector<std::string> row{std::string(name(what))};
      for (std::size_t i = 0; i < rules_.size(); ++i) {
        const auto& ratios = over_optimum_[{what, i}];
        row.push_back(text_of(median(ratios), 3) + " (" + text_of(best(ratios), 2) + ")");
      }
      medians.row(row);
    }
    medians.print();
    table gains(
        {"COCI's rule against the best of the even ones, % less", "serial: median", "best", "4-2-1: median", "best"});
    for (const auto what : all_objectives) {
      const auto &serial = coci_[{what, false}], &parallel = coci_[{what, true}];
      gains.row({std::string(name(what)), text_of(median(serial), 1), text_of(best(serial), 1),
                 text_of(median(parallel), 1), text_of(best(parallel), 1)});
    }
    gains.print();
  }

  void draw(const std::string& file) {
    std::vector<bar_panel> panels;
    for (const auto what : all_objectives) {
      bar_panel panel{.title = std::string(name(what)),
                      .unit = "overhead / optimum's",
                      .groups = {},
                      .series = {},
                      .is_logarithmic = true};
      for (const double stall : stalls) panel.groups.push_back(text_of(stall) + " s");
      for (std::size_t i = 0; i + 1 < rules_.size(); ++i) {
        bar_series series{.name = rules_[i].name, .values = {}, .is_own = rules_[i].key == "optimal"};
        for (std::size_t s = 0; s < stalls.size(); ++s) series.values.push_back(median(by_stall_[{what, i, s}]));
        panel.series.push_back(std::move(series));
      }
      panels.push_back(std::move(panel));
    }
    write_bars(
        file, "Rules for saving, under each objective",
        "what saving and lost work cost, over the exact optimum's; medians over MTBF, end, workers and loss; by stall",
        panels);
  }

  std::vector<contestant> rules_;
  cell_table cells_;
  std::map<std::pair<objective, std::size_t>, std::vector<double>> over_optimum_;
  std::map<std::tuple<objective, std::size_t, std::size_t>, std::vector<double>> by_stall_;
  std::vector<double> gain_, loss_;
  std::map<std::pair<objective, bool>, std::vector<double>> coci_;
};

/// How a system saves: in the foreground as a peer does, or in the background as Cairn does, whole, raw, or as its
/// policy chooses.
enum class mechanism : std::uint8_t { blocking, whole, raw, chosen };
constexpr std::array mechanisms{mechanism::blocking, mechanism::whole, mechanism::raw, mechanism::chosen};
constexpr std::array mechanism_names{"blocking", "whole", "raw", "chosen"};

/// A rule with a mechanism; the key is "<rule>.<mechanism>".
struct saving_system {
  contestant rule;
  mechanism how;
};

/// The job of a cell with what was measured of such saves.
schedule::scenario with_costs(const cell& where, mechanism how, const measured_costs& measured) {
  auto job = scenario_of(where, measured.blocking.seconds, 0.1);
  if (how == mechanism::blocking) return job;
  const auto kind_of = [&](const measured_save& save) {
    return schedule::kind_of_save{save.seconds,
                                  {.encode_seconds = save.encode,
                                   .write_seconds = save.write,
                                   .bytes = static_cast<std::uint64_t>(save.bytes),
                                   .state_bytes = static_cast<std::uint64_t>(measured.mib) << 20U}};
  };
  job.kinds = {kind_of(measured.raw), kind_of(measured.whole),
               kind_of(measured.whole)};  // the default codecs make no deltas
  job.usual = how == mechanism::raw ? cairn::save_kind::raw : cairn::save_kind::whole;
  return job;
}

/// Every rule with every mechanism; only ours chooses the kind.
std::vector<saving_system> all_systems() {
  std::vector<saving_system> all;
  const auto add = [&](const contestant& rule, mechanism how) {
    const auto* suffix = mechanism_names[static_cast<std::size_t>(how)];
    all.push_back({{rule.key + '.' + suffix, rule.name + ", " + suffix, false, rule.make}, how});
  };
  for (const auto& rule : measuring_policies())
    if (!rule.by_objective)
      for (const auto how : {mechanism::blocking, mechanism::whole, mechanism::raw}) add(rule, how);
  for (const bool is_told : {true, false})
    for (const auto how : mechanisms)
      add({is_told ? "adaptive" : "adaptive_learning", is_told ? "ours" : "ours, MTBF learned", false,
           [is_told, how](const cell& where, objective) -> cairn::any_policy {
             using namespace cairn::policies;
             adaptive_options options;
             if (is_told) options.mtbf = cairn::known_mtbf(std::chrono::duration<double>(3600 * where.hours));
             options.kinds = how == mechanism::chosen ? save_kinds::any : save_kinds::configured;
             return adaptive(options);
           }},
          how);
  return all;
}

/// By exact expected costs, so that the result does not depend on a seed: in how many cells and under how many
/// objectives another rule costs less than the optimal policy, and by how much at most.
void compare_expected_costs(const std::vector<contestant>& rules, report& numbers) {
  std::size_t comparisons = 0, worse = 0, clearly_worse = 0;
  double most = 0;
  for (const auto& where : all_cells()) {
    const auto job = scenario_of(where, {.stall = where.stall}, 0);
    std::map<std::string, std::vector<std::uint32_t>> plans;
    for (const auto& rule : rules)
      if (!rule.by_objective) plans[rule.key] = saves_of(job, rule.make(where, objective::machine_time));
    for (const auto what : all_objectives) {
      const auto model = cost_model_of(what, job.work, {.stall = where.stall}, job.failures, job.stops);
      const auto optimal = std::find_if(rules.begin(), rules.end(), [](const auto& r) { return r.key == "optimal"; });
      const double ours = expected_cost(model, saves_of(job, optimal->make(where, what)));
      for (const auto& [key, plan] : plans) {
        const double percent = 100 * (ours / expected_cost(model, plan) - 1);
        ++comparisons;
        worse += percent > 1e-9;
        clearly_worse += percent > 0.5;
        most = std::max(most, percent);
      }
    }
  }
  numbers.at_most("optimal.never_worse", static_cast<double>(clearly_worse), 0);
  numbers.number("optimal.never_worse.comparisons", static_cast<double>(comparisons));
  numbers.number("optimal.never_worse.at_all", static_cast<double>(worse));
  numbers.number("optimal.never_worse.most_percent", most);
  std::printf(
      "%zu comparisons of the optimal policy with another rule by expected costs: in %zu it costs more, at most %.2f "
      "%% "
      "more, in %zu more than 0.5 %% more\n\n",
      comparisons, worse, most, clearly_worse);
}

double total(const outcome& each) { return each.of(objective::machine_time).total(); }

}  // namespace

void compare_rules(const table_setting& how, report& numbers) {
  const auto rules = informed_policies();
  rule_comparison compared(rules);
  const auto cells = all_cells();
  simulate_grid(
      cells, rules, all_objectives,
      [](const cell& where, const contestant&) { return scenario_of(where, {.stall = where.stall}, 0); }, how.jobs,
      how.threads, [&](const comparison& made) { compared.add(made); });
  compared.finish(how, numbers);
  compare_expected_costs(rules, numbers);

  std::map<objective, std::vector<double>> gaps;
  const auto measuring = measuring_policies();
  simulate_grid(
      cells, measuring, all_objectives,
      [](const cell& where, const contestant&) { return scenario_of(where, {.stall = where.stall}, 0.1); },
      how.jobs / 4 + 1, how.threads,
      [&](const comparison& made) {
        const auto cost = [&](std::size_t i) { return mean_of(made.results[i], made.what).mean; };
        const std::size_t last = measuring.size() - 1;
        if (cost(last) > 0) gaps[made.what].push_back(100 * (cost(last - 1) / cost(last) - 1));
      });
  for (const auto what : all_objectives)
    numbers.number("optimal.gap_measuring." + std::string(name(what)), median(gaps[what]));
}

void compare_systems(const table_setting& how, std::span<const measured_costs> measured, report& numbers) {
  if (measured.size() != stalls.size())
    throw std::runtime_error("what saves cost is measured for other stalls than the grid's");
  const auto systems = all_systems();
  std::vector<contestant> rules;
  for (const auto& each : systems) rules.push_back(each.rule);
  const auto index_of = [&](const std::string& key) {
    return static_cast<std::size_t>(std::ranges::find(rules, key, &contestant::key) - rules.begin());
  };

  std::map<std::string, std::vector<double>> reductions, over_young;
  cell_table rows(rules);
  const objective machine_time[] = {objective::machine_time};
  simulate_grid(
      all_cells(), rules, machine_time,
      [&](const cell& where, const contestant& who) {
        return with_costs(where, systems[index_of(who.key)].how, measured[where.stall_index]);
      },
      how.jobs, how.threads,
      [&](const comparison& made) {
        const auto cost = [&](const std::string& key) { return mean_of(made.results[index_of(key)], total).mean; };
        rows.add(made, [](const simulation& each) { return mean_of(each, total); });
        for (const std::string own : {"adaptive", "adaptive_learning"})
          for (const std::string other : {"young", "checkfreq", "coci"})
            reductions[own + ".reduction_vs_" + other].push_back(
                percent_less(cost(own + ".chosen"), cost(other + ".blocking")));
        for (const auto& rule : rules) over_young[rule.key].push_back(cost(rule.key) / cost("young.blocking"));
      });

  // What the saves gain and what the rule gains, apart.
  table apart({"machine time lost, over Young's with blocking saves; median", "blocking", "background, whole",
               "background, raw", "background, chosen"});
  for (const auto& [key, name] :
       std::initializer_list<std::pair<std::string, std::string>>{{"young", "Young"},
                                                                  {"checkfreq", "CheckFreq"},
                                                                  {"coci", "COCI"},
                                                                  {"adaptive", "ours"},
                                                                  {"adaptive_learning", "ours, MTBF learned"}}) {
    std::vector<std::string> row{name};
    for (const std::string mechanism : mechanism_names) {
      const auto found = over_young.find(key + '.' + mechanism);
      row.push_back(found == over_young.end() ? "-" : text_of(median(found->second), 3));
      if (found != over_young.end()) numbers.number("systems." + found->first, median(found->second));
    }
    apart.row(row);
  }
  apart.print();
  rows.write(how.file);
  table gains({"machine time lost, % less", "median", "best", "worst"});
  for (const auto& [key, values] : reductions) {
    gains.row({key, text_of(median(values), 1), text_of(best(values), 1), text_of(worst(values), 1)});
    const bool is_figure = key.starts_with("adaptive.");
    if (is_figure)
      numbers.at_least(key + ".median", median(values), key.ends_with("checkfreq") ? 85 : 60);
    else
      numbers.number(key + ".median", median(values));
    numbers.number(key + ".best", best(values));
    numbers.number(key + ".worst", worst(values));
  }
  gains.print();
}

void time_scheduling(report& numbers) {
  schedule::workload job;
  for (int k = 0; k <= 100'000; ++k) {
    if (k < 100'000) job.seconds.push_back(1);
    job.loss.push_back(std::exp(-k / 20'000.0));
  }
  double slowest = 0;
  for (const auto what : all_objectives) {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i)
      times.push_back(seconds_of([&] {
        const auto charged =
            cost_model_of(what, job, {.stall = 1}, schedule::failures::exponential{std::chrono::hours{4}},
                          schedule::early_stops::none{});
        if (schedule::optimum(charged).saves.empty()) throw std::logic_error("no saves");
      }));
    slowest = std::max(slowest, median(times));
  }
  numbers.at_most("optimal.seconds_1e5", slowest, 0.1);

  // A decision, the fit of the loss included.
  using namespace cairn::policies;
  const std::pair<const char*, cairn::any_policy> deciding[] = {
      {"young", young()},
      {"checkfreq", checkfreq()},
      {"coci", coci({.estimator = cairn::estimators::exponential()})},
      {"adaptive", adaptive()},
      {"by_objective",
       schedule::by_objective(
           {.what = objective::exploratory, .last_step = 1'000'000, .estimator = cairn::estimators::best_of{}})}};
  double longest = 0;
  for (const auto& [key, policy] : deciding) {
    std::vector<double> times;
    for (int repetition = 0; repetition < 5; ++repetition) {
      auto deciding_now = policy;
      cairn::moment now{.iteration_seconds = 0.1};
      times.push_back(seconds_of([&] {
        for (now.step = 1; now.step <= 1'000'000; ++now.step) {
          now.seconds += now.iteration_seconds;
          now.loss =
              std::exp(-1e-5 * static_cast<double>(now.step)) * (1 + 0.1 * static_cast<double>(now.step % 7) / 7);
          if (!deciding_now.should_save(now)) continue;
          now.saved_step = now.step;
          now.saved_seconds = now.seconds;
          deciding_now.saved({.step = now.step, .stall_seconds = 0.02, .background_seconds = 0.05});
        }
      }));
    }
    numbers.number(std::string("decide_ns.") + key, 1e9 * median(times) / 1e6);
    longest = std::max(longest, 1e9 * median(times) / 1e6);
  }
  numbers.at_most("decide_ns", longest, 100);

  const cell where{.stall_index = 2, .stall = stalls[2], .hours = 4, .falls_steeply = true};
  for (const auto& [key, policy] : {deciding[0], deciding[3]})
    numbers.at_most(std::string("simulate.seconds_1e8.") + key, seconds_of([&] {
                      (void)schedule::simulate(scenario_of(where, {.stall = where.stall}, 0), policy, {.jobs = 10'000});
                    }),
                    60);
}

}  // namespace bench
