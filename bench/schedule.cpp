// SPDX-License-Identifier: MIT
// When to save: rules in simulated jobs, what saves cost here, and a real training run under real kills.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/options.hpp"
#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/checkfreq.hpp"
#include "cairn/schedule/coci.hpp"
#include "cairn/schedule/even_intervals.hpp"
#include "cairn/schedule/fits/estimators.hpp"
#include "cairn/schedule/mtbf.hpp"

#include "common/arguments.hpp"
#include "common/report.hpp"
#include "common/work_directory.hpp"
#include "schedule/costs.hpp"
#include "schedule/fit.hpp"
#include "schedule/grid.hpp"
#include "schedule/places.hpp"
#include "schedule/published.hpp"
#include "schedule/real_run.hpp"
#include "schedule/tables.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "schedule [--sections rules,places,costs,systems,fit,speed,real_run] [--directory .] [--json FILE] [--wait 1]\n"
    "         [--jobs 200] [--threads 2] [--cells FILE] [--chart FILE] [--fit-seeds 15]\n"
    "         [--saves 5] [--targets 0.13,0.27,0.59,0.6,1.6]\n"
    "         [--data FOLDER] [--images 0] [--batch 32] [--target 8e-6] [--mtbf 12] [--seeds 1,2,3,4,5,6,7,8,9,10] "
    "[--longest 90]\n"
    "         [--methods none,every_epoch,checkfreq,coci,ours,ours_untold] [--run-chart FILE]\n"
    "  --sections   what to measure\n"
    "  --directory  where the checkpoints go, in a new directory that is deleted afterwards\n"
    "  --wait       seconds to wait at most for idle cores before a process starts; 0: not at all\n"
    "  rules, places and systems: simulated jobs; systems needs costs\n"
    "  --jobs       per rule and cell of the grid\n"
    "  --threads    that simulate\n"
    "  --cells      file to which the tables of all cells are added; none: they are not written\n"
    "  --chart      SVG file for the rules; none: it is not drawn\n"
    "  --fit-seeds  of the noise of each curve\n"
    "  costs: what a save costs, for states of several sizes\n"
    "  --saves      of each kind, after the first\n"
    "  --targets    seconds that a blocking save of the states should take\n"
    "  real_run: LeNet-5 under SIGKILLs\n"
    "  --data       folder of the MNIST files; none: drawn digits\n"
    "  --images     the first n; 0: all\n"
    "  --batch      images per step\n"
    "  --target     the mean loss of an epoch with which a run ends\n"
    "  --mtbf       mean seconds from the start of a process until it is killed\n"
    "  --seeds      of the kills: a round of all methods for each\n"
    "  --longest    seconds after which a run is given up\n"
    "  --methods    of none, every_epoch, checkfreq, coci, daly, ours and ours_untold\n"
    "  --run-chart  SVG file for the time that they lost; none: it is not drawn\n";

/// The same for all but the rule and whether the trainer waits.
cairn::checkpointer_options checkpoints(cairn::any_policy when, bool asynchronous) {
  return {.keep_last = 3, .when = std::move(when), .asynchronous = asynchronous};
}

/// The true MTBF, for the policies that use one.
cairn::mtbf_prior mtbf_of(const run_facts& facts) {
  return cairn::known_mtbf(std::chrono::duration<double>(facts.mtbf));
}

std::vector<run_method> real_methods(const arguments& options) {
  namespace policies = cairn::policies;
  auto all = with_plain_methods({
      {"checkfreq", "CheckFreq's rule, blocking",
       [](const auto&) { return checkpoints(policies::checkfreq(), false); }},
      {"coci", "COCI's rule, blocking",
       [](const auto& facts) {
         return checkpoints(policies::coci({.mtbf = mtbf_of(facts), .estimator = cairn::estimators::exponential()}),
                            false);
       }},
      {"daly", "Daly's rule, blocking",
       [](const auto& facts) { return checkpoints(policies::daly({.mtbf = mtbf_of(facts)}), false); }},
      {"ours", "ours",
       [](const auto& facts) { return checkpoints(policies::adaptive({.mtbf = mtbf_of(facts)}), true); }},
      {"ours_untold", "ours, without an MTBF", [](const auto&) { return checkpoints(policies::adaptive(), true); }},
  });
  std::vector<std::string_view> keys;
  for (const auto& how : all) keys.push_back(how.key);
  const auto wanted = options.list_of("methods", keys);
  std::erase_if(all, [&](const run_method& how) { return std::ranges::find(wanted, how.key) == wanted.end(); });
  return all;
}

/// How well losses are predicted, family by family.
void report_fits(int seeds, report& numbers) {
  const auto errors = measure_fit(seeds);
  table all(
      {"error after twice the steps, %", "own: median", "worst curve", "best_of: median", "worst curve", "without"});
  const auto row = [&](const std::string& family, const prediction_error& own, const prediction_error& best) {
    all.row({family, text_of(own.median), text_of(own.worst_curve), text_of(best.median), text_of(best.worst_curve),
             text_of(best.without)});
  };
  for (const auto& each : errors.families) row(each.family, each.own, each.best);
  row("all", errors.own, errors.best);
  all.print();
  numbers.at_most("fit.error", errors.best.median, 10);
  numbers.number("fit.error.worst_curve", errors.best.worst_curve);
  numbers.number("fit.observe_ns", errors.observe_ns);
  numbers.number("fit.refit_us", errors.refit_us);
}

void run_all(const arguments& options) {
  const auto has = [&](const char* section) {
    return options.has("sections", section, {"rules", "places", "costs", "systems", "fit", "speed", "real_run"});
  };
  // All options are read before anything is measured.
  const bool rules = has("rules"), places = has("places"), costs = has("costs"), systems = has("systems"),
             fit = has("fit"), speed = has("speed"), real_run = has("real_run");
  const auto& json = options.file("json");
  const auto fit_seeds = static_cast<int>(options.positive("fit-seeds", 1'000'000));
  const table_setting tables{.jobs = options.positive("jobs"),
                             .threads = static_cast<unsigned>(options.positive("threads", 1024)),
                             .file = options.file("cells"),
                             .figure = options.file("chart")};
  cost_setting saves{.directory = {},
                     .targets = options.numbers("targets"),
                     .saves = options.positive("saves"),
                     .patience = std::chrono::duration<double>(options.number("wait"))};
  if (std::ranges::any_of(saves.targets, [](double seconds) { return seconds > 3600; }))
    throw std::invalid_argument("--targets: at most 3600 seconds");
  if (systems && (!costs || saves.targets.size() != stalls.size()))
    throw std::invalid_argument("--sections: systems needs costs, with " + std::to_string(stalls.size()) + " targets");
  const auto methods = real_methods(options);
  run_setting runs{.directory = {},
                   .data = options.text("data"),
                   .images = options.count("images"),
                   .batch = options.positive("batch"),
                   .target = options.number("target"),
                   .mtbf = options.number("mtbf"),
                   .longest = options.number("longest"),
                   .chart = options.file("run-chart"),
                   .seeds = options.counts("seeds", 1'000'000'000)};
  const work_directory directory(options.text("directory"), "schedule");
  saves.directory = directory.path() / "costs";
  runs.directory = directory.path() / "checkpoints";

  report numbers;
  if (rules) {
    compare_rules(tables, numbers);
    compare_published_rule(numbers);
  }
  if (places) compare_places(tables.jobs, numbers);
  std::vector<measured_costs> measured;
  if (costs) measured = measure_costs(saves, numbers);
  if (systems) compare_systems(tables, measured, numbers);
  if (fit) report_fits(fit_seeds, numbers);
  if (speed) time_scheduling(numbers);
  if (real_run) compare_real_runs(methods, runs, numbers);
  numbers.print_figures();
  numbers.write_json(json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::arguments options(argc, argv,
                                   {{"sections", "rules,places,costs,systems,fit,speed,real_run"},
                                    {"jobs", "200"},
                                    {"threads", "2"},
                                    {"cells", ""},
                                    {"chart", ""},
                                    {"fit-seeds", "15"},
                                    {"directory", "."},
                                    {"json", ""},
                                    {"wait", "1"},
                                    {"saves", "5"},
                                    {"job", ""},
                                    {"state", ""},
                                    {"targets", "0.13,0.27,0.59,0.6,1.6"},
                                    {"data", ""},
                                    {"images", "0"},
                                    {"batch", "32"},
                                    {"target", "8e-6"},
                                    {"mtbf", "12"},
                                    {"seeds", "1,2,3,4,5,6,7,8,9,10"},
                                    {"longest", "90"},
                                    {"run-chart", ""},
                                    {"methods", "none,every_epoch,checkfreq,coci,ours,ours_untold"}},
                                   usage);
    if (!options.text("job").empty()) return bench::run_cost_job(options);
    run_all(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "schedule: %s\n", failure.what());
    return 1;
  }
}
