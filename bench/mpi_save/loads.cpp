// SPDX-License-Identifier: MIT
// Restores of four ranks that hold the same state, and loads of each rank by itself.
#include "mpi_save/loads.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/raw.hpp"
#include "cairn/group/mpi.hpp"
#include "cairn/load.hpp"
#include "common/interleave.hpp"
#include "common/page_cache.hpp"
#include "common/statistics.hpp"
#include "mpi_save/share.hpp"

namespace bench {
namespace {

struct load_times {
  std::vector<double> together{}, everyone{};
  double cached = 0;  ///< the largest part of the files that was in the page cache before a cold load
};

/// Files in the page cache, or dropped from it.
load_times time_loads(const world& ranks, const setting& how, bool is_cold) {
  const auto place = how.directory.string() + "/loads";
  auto state = make_state(how.shapes);
  fill(state);
  cairn::checkpointer_options options;
  options.codecs = {{"*", cairn::codecs::raw{}}};
  cairn::checkpointer checkpoints(place, options, cairn::mpi::group(ranks.comm()));
  checkpoints.save(state, {.step = 1});
  load_times times;
  std::array<bool, 2> both{true, false};
  interleave(std::span<bool>(both), how.repetitions, [&](bool is_together, std::size_t repetition) {
    if (repetition == 0) spoil(state);
    ranks.settle(0, how.patience);
    if (is_cold && ranks.is_first()) times.cached = std::max(times.cached, drop_cached(place));
    ranks.meet();
    const double seconds = ranks.seconds_of([&] {
      if (is_together)
        checkpoints.restore(state);
      else
        cairn::load(place, state, {.verify_first = false});  // in one pass, as `restore` does
    });
    (is_together ? times.together : times.everyone).push_back(seconds);
    if (repetition == 0 && !is_intact(state, how.shapes)) throw std::runtime_error("a load gave other values");
  });
  checkpoints.remove_after(0);
  return times;
}

}  // namespace

void measure_loads(const world& all, const setting& how, report& numbers) {
  load_times warm, cold;
  const bool is_measured = all.with_first(4, [&](const world& ranks) {
    warm = time_loads(ranks, how, false);
    cold = time_loads(ranks, how, true);
  });
  numbers.at_least("mpi_load.over_everyone_reads", median_ratio(warm.everyone, warm.together), 0.97);
  numbers.at_least("mpi_load.over_everyone_reads.cold", median_ratio(cold.everyone, cold.together), 0.97);
  if (!all.is_first() || !is_measured) return;
  std::printf("Loads of 4 ranks, the same state at each, medians of %zu, seconds\n\n", how.repetitions);
  table rows({"files", "restore", "each rank by itself", "over restore"});
  for (const auto& [name, times] : {std::pair("in the page cache", &warm), std::pair("on the disk", &cold)})
    rows.row({name, text_of(median(times->together), 3), text_of(median(times->everyone), 3),
              text_of(median_ratio(times->everyone, times->together), 3)});
  rows.print();
  if (cold.cached > 0.01) std::printf("of the files on the disk, a part of %.2f was cached\n\n", cold.cached);
}

}  // namespace bench
