// SPDX-License-Identifier: MIT
// What a step of a trainer costs: one that saves nothing, and one that copies the state.
#include "mpi_save/steps.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/raw.hpp"
#include "cairn/group/mpi.hpp"
#include "common/interleave.hpp"
#include "common/statistics.hpp"
#include "mpi_save/share.hpp"

namespace bench {
namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

cairn::checkpointer_options options_for(std::uint64_t interval) {
  cairn::checkpointer_options options;
  options.codecs = {{"*", cairn::codecs::raw{}}};
  options.durable = false;
  options.when = cairn::policies::every_steps{interval};
  options.on_busy = cairn::when_busy::wait;
  options.keep_last = 1;
  return options;
}

/// What any trainer of several ranks could do at least to agree: a reduction that the next step waits for. As many
/// numbers as a step of Cairn sends.
class started_reduction {
 public:
  explicit started_reduction(MPI_Comm ranks) : ranks_(ranks) {}
  void step(std::uint64_t number) {
    wait();
    mine_.fill(number);
    check_mpi(MPI_Iallreduce(mine_.data(), largest_.data(), static_cast<int>(mine_.size()), MPI_UINT64_T, MPI_MAX,
                             ranks_, &request_),
              "MPI_Iallreduce");
  }
  void wait() { check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  MPI_Comm ranks_;
  std::array<std::uint64_t, 15> mine_{}, largest_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// A reduction of gradients, 64 KiB of them, which each step of a data-parallel trainer waits for; none in a loop that
/// does nothing else.
void reduce_gradients(const world& ranks, std::vector<float>& gradients) {
  if (gradients.empty()) return;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, gradients.data(), static_cast<int>(gradients.size()), MPI_FLOAT, MPI_SUM,
                          ranks.comm()),
            "MPI_Allreduce");
}

struct loop_times {
  std::vector<double> cairn{}, reduction{};  ///< microseconds of one step
};

loop_times time_loops(const world& ranks, const setting& how, std::size_t steps, std::size_t gradient_count) {
  std::vector<float> state(1 << 16), gradients(gradient_count);
  cairn::checkpointer checkpoints(how.directory.string() + "/steps", options_for(1'000'000'000),
                                  cairn::mpi::group(ranks.comm()));
  checkpoints.restore(state);
  started_reduction peer(ranks.comm());
  std::uint64_t number = 0;
  loop_times times;
  const auto time = [&](const auto& step) {
    ranks.settle(0, how.patience);
    return 1e6 / static_cast<double>(steps) * ranks.seconds_of([&] {
      for (std::size_t i = 0; i < steps; ++i) {
        reduce_gradients(ranks, gradients);
        step(++number);
      }
    });
  };
  const auto by_cairn = [&](std::uint64_t now) { std::ignore = checkpoints.step(state, {.step = now}); };
  const auto by_peer = [&](std::uint64_t now) { peer.step(now); };
  by_cairn(++number);
  std::array<bool, 2> both{true, false};
  interleave(std::span<bool>(both), how.repetitions, [&](bool is_cairn, std::size_t) {
    if (is_cairn)
      times.cairn.push_back(time(by_cairn));
    else
      times.reduction.push_back(time(by_peer));
  });
  peer.wait();
  return times;
}

void measure_empty_steps(const world& all, const setting& how, std::size_t steps, report& numbers) {
  loop_times bare, with_gradients;
  const bool is_measured = all.with_first(4, [&](const world& ranks) {
    bare = time_loops(ranks, how, steps, 0);
    with_gradients = time_loops(ranks, how, steps, 16384);
  });
  numbers.at_most("mpi_step.microseconds", median(bare.cairn), 1.2 * median(bare.reduction));
  numbers.number("mpi_step.over_reduction", median_ratio(bare.cairn, bare.reduction));
  numbers.number("mpi_step.over_reduction.with_gradients",
                 median_ratio(with_gradients.cairn, with_gradients.reduction));
  if (!all.is_first() || !is_measured) return;
  std::printf("A step that saves nothing, 4 ranks, medians of %zu loops of %zu steps, microseconds\n\n",
              how.repetitions, steps);
  table rows({"loop", "cairn", "one started reduction", "ratio"});
  for (const auto& [name, times] : {std::pair("nothing else", &bare), std::pair("with gradients", &with_gradients)})
    rows.row({name, text_of(median(times->cairn)), text_of(median(times->reduction)),
              text_of(median_ratio(times->cairn, times->reduction), 3)});
  rows.print();
}

/// Saves in the background of some ranks.
struct stalls {
  std::vector<double> seconds{};  ///< that the slowest rank waited in `step`
  std::vector<double> cpu{};      ///< of these, the most that a rank had a core: on a busy machine it waits for one
  std::uint64_t copied = 0;       ///< the most bytes that a rank has copied for one save
  std::uint64_t total = 0;        ///< bytes of the state
};

/// One more save than `saves`, the first of which is not counted. One copying thread at each rank. Only at these ranks;
/// the others wait.
stalls stall_of(const world& all, unsigned count, const setting& how, std::size_t saves) {
  stalls all_of_them;
  const auto measure = [&](const world& ranks) {
    auto state = make_state(how.shapes);
    fill(state);
    auto options = options_for(2);
    options.copy_threads = 1;
    std::mutex mutex;
    options.on_event = [&](const cairn::event& what) {
      if (what.what != cairn::event::kind::copied) return;
      const std::lock_guard lock(mutex);
      all_of_them.copied = std::max(all_of_them.copied, what.bytes);
      all_of_them.total = what.total;
    };
    cairn::checkpointer checkpoints(how.directory.string() + "/stalls", options, cairn::mpi::group(ranks.comm()));
    checkpoints.remove_after(0);
    checkpoints.restore(state);
    for (std::uint64_t save = 0; save <= saves; ++save) {
      std::ignore = checkpoints.step(state, {.step = 2 * save + 1});
      ranks.settle(0, how.patience);
      cairn::step_outcome outcome;
      const double before = thread_cpu_seconds();
      const double waited = seconds_of([&] { outcome = checkpoints.step(state, {.step = 2 * save + 2}); });
      const double worked = thread_cpu_seconds() - before;
      if (!outcome.started) throw std::runtime_error("a save did not begin");
      const auto slowest = ranks.largest({waited, worked});
      if (save > 0) all_of_them.seconds.push_back(slowest[0]);
      if (save > 0) all_of_them.cpu.push_back(slowest[1]);
      checkpoints.wait();
    }
    const auto most = ranks.largest({static_cast<double>(all_of_them.copied)})[0];
    all_of_them.copied = static_cast<std::uint64_t>(most);
    checkpoints.remove_after(0);
  };
  all.with_first(count, measure);
  return all_of_them;
}

void measure_stalls(const world& all, const setting& how, report& numbers) {
  std::vector<double> one, two, four, one_cpu, two_cpu;
  double copied = not_measured;
  constexpr std::size_t rounds = 3;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::array<unsigned, 2> counts{1, 2};
    if (round % 2 == 1) std::swap(counts[0], counts[1]);
    for (const auto count : counts) {
      const auto some = stall_of(all, count, how, how.repetitions);
      (count == 1 ? one : two).push_back(median(some.seconds));
      (count == 1 ? one_cpu : two_cpu).push_back(median(some.cpu));
    }
  }
  if (all.size() >= 4) {
    const auto last = stall_of(all, 4, how, how.repetitions);
    four.push_back(median(last.seconds));
    copied = static_cast<double>(last.copied) / static_cast<double>(last.total);
  }
  if (all.is_first())
    std::printf(
        "Milliseconds that `step` waits, one copying thread at each rank: 1 rank %s, 2 ranks %s, 4 ranks %s. Of these "
        "with a core: 1 rank %s, 2 ranks %s\n\n",
        text_of(1e3 * median(one), 1).c_str(), text_of(1e3 * median(two), 1).c_str(),
        text_of(1e3 * median(four), 1).c_str(), text_of(1e3 * median(one_cpu), 1).c_str(),
        text_of(1e3 * median(two_cpu), 1).c_str());
  numbers.number("seconds.stall.1", median(one));
  numbers.number("seconds.stall.2", median(two));
  numbers.number("seconds.stall.4", median(four));
  numbers.at_most("mpi_stall.2_over_1", median_ratio(two, one), 0.6);
  numbers.number("mpi_stall.2_over_1.cpu", median_ratio(two_cpu, one_cpu));
  numbers.at_most("mpi_copied.4", copied, 0.26);
}

}  // namespace

void measure_steps(const world& all, const setting& how, std::size_t steps, report& numbers) {
  measure_empty_steps(all, how, steps, numbers);
  measure_stalls(all, how, numbers);
}

}  // namespace bench
