// SPDX-License-Identifier: MIT
// Scenarios and figures.
#include "schedule/places.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/level_schedule.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "schedule/simulate.hpp"

namespace bench {
namespace {

using namespace schedule;
using in_seconds = std::chrono::duration<double>;

constexpr in_seconds hour{3600}, day{86400};

/// A job whose process fails now and then, and whose machine vanishes seldom.
struct machine {
  const char* name;
  in_seconds process, whole;  ///< mean times between failures
  double near, far;           ///< seconds that a save, and a copy or a save at the far place alone, take
};

constexpr in_seconds iteration{10};

struct contest {
  const machine& of;
  in_seconds length;
  double lag;  ///< seconds until a copy can be restored
  simulate_options options;

  [[nodiscard]] double all_failures() const { return 1 / of.process.count() + 1 / of.whole.count(); }

  [[nodiscard]] scenario job(double stall, double background) const {
    const auto steps = static_cast<std::size_t>(length / iteration);
    return {.work = {.seconds = std::vector<double>(steps, iteration.count())},
            .failures = failures::exponential{in_seconds(1 / all_failures())},
            .kinds = every_kind({.stall = stall, .background = background})};
  }
  /// Seconds of saving, copying and repeated work, over those of the job.
  [[nodiscard]] double overhead_of(const scenario& what, const cairn::mtbf_prior& prior) const {
    const auto all = simulate(what, cairn::policies::adaptive({.mtbf = prior}), options);
    return mean_of(all, objective::machine_time).mean / length.count();
  }
  [[nodiscard]] cairn::mtbf_prior known() const { return cairn::known_mtbf(in_seconds(1 / all_failures())); }

  [[nodiscard]] double far_alone() const { return overhead_of(job(of.far, lag), known()); }
  [[nodiscard]] double both(bool are_known) const {
    auto what = job(of.near, 0);
    what.far = {{.share = 1 / of.whole.count() / all_failures(), .taken = of.far, .seconds = lag}};
    if (are_known) what.copies = cairn::schedule::level_schedule(std::vector{cairn::known_mtbf(of.whole)});
    return overhead_of(what, are_known ? known() : cairn::mtbf_prior());
  }
};

}  // namespace

void compare_places(std::size_t jobs, report& numbers) {
  // A machine of a cluster, and one that is preempted.
  const machine cluster{"process 12 h, machine 30 d", 12 * hour, 30 * day, 0.06, 1.14};
  const machine spot{"process 100 h, machine 5 h", 100 * hour, 5 * hour, 0.06, 3};
  table rows({"mean times between failures", "days", "lag, s", "far alone, %", "near and far, %", "less, %",
              "learned / known"});
  for (const auto* each : {&cluster, &spot})
    for (const double length : {7.0, 30.0, 60.0})
      for (const double lag : {0.0, 60.0}) {
        const contest of{*each, length * day, lag, {.jobs = std::max<std::size_t>(jobs / 4, 2)}};
        const double alone = of.far_alone(), both = of.both(true), learned = of.both(false) / both;
        rows.row({each->name, text_of(length), text_of(lag), text_of(100 * alone), text_of(100 * both),
                  text_of(100 * (1 - both / alone)), text_of(learned)});
        if (each != &cluster || lag != 0) continue;
        if (length == 60) numbers.at_least("where.reduction", 100 * (1 - both / alone), 60);
        if (length == 30) numbers.at_most("where.learned", learned, 1.10);
      }
  rows.print();
}

}  // namespace bench
