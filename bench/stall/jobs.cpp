// SPDX-License-Identifier: MIT
// Child processes of the bench: each makes a state, does one thing with it and prints numbers.
#include "stall/jobs.hpp"

#include <algorithm>
#include <csignal>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/job.hpp"
#include "common/memory.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "stall/cairn.hpp"
#include "stall/copy.hpp"
#include "stall/trainer.hpp"

namespace bench {
namespace {

/// Between the time when a save is durable and the next one, at least; and after a save, at least.
constexpr std::uint64_t steps_before = 5, steps_after = 3;

/// Steps before the first save of all: what a trainer does anyhow, and time enough to make buffers ready.
constexpr std::uint64_t first_interval = 8;

void first_job(const std::string& directory, std::size_t mib) {
  auto state = trained_state(mib);
  copy_target target(state);
  cairn::checkpointer saver(directory, cairn_options(true, first_interval));
  if (saver.restore(state)) throw std::runtime_error("the checkpointer is not fresh");
  cairn::step_outcome outcome;
  double copied = 0;
  for (std::uint64_t step = 1; step <= first_interval; ++step) {
    if (step == first_interval) copied = target.copy(state);
    rewrite(state, step);
    const double waited = seconds_of([&] { outcome = saver.step(state, {.step = step}); });
    if (step == first_interval) print_numbers({waited, copied});
  }
  if (!outcome.started) throw std::runtime_error("the first save did not begin");
  saver.wait();
}

void memory_job(const std::string& directory, std::size_t mib) {
  std::uint64_t bytes = 0;
  const auto peak = extra_memory_of([&] {
    auto state = trained_state(mib);
    bytes = size_of(state).bytes;
    cairn::checkpointer saver(directory, cairn_options(true, 4));
    if (saver.restore(state)) throw std::runtime_error("the checkpointer is not fresh");
    for (std::uint64_t step = 1; step <= 40; ++step) {
      rewrite(state, step);
      std::ignore = saver.step(state, {.step = step});
    }
    saver.wait();
  });
  print_numbers({static_cast<double>(peak) / static_cast<double>(bytes)});
}

/// Trains all the time and saves in one way at every multiple of `save_interval`.
class saving_trainer {
 public:
  saving_trainer(const known_way& how, const std::string& directory, std::size_t mib)
      : goes_on_(how.goes_on), state_(trained_state(mib)), target_(state_), saver_(how.make(directory)) {}

  save_times train_and_save();

 private:
  /// Seconds of the next step.
  double train() {
    ++step_;
    return seconds_of([&] {
      rewrite(state_, step_);
      saver_.step(state_, step_);
    });
  }

  bool goes_on_;
  training_state state_;
  copy_target target_;
  way saver_;
  std::uint64_t step_ = 0;
};

/// Trains until a save is due, saves, and trains on until it is durable, or nearly until the next one is due.
save_times saving_trainer::train_and_save() {
  save_times times;
  const auto due = (step_ / save_interval + 1) * save_interval;
  std::vector<double> before;
  while (step_ + 1 < due) before.push_back(train());
  times.step = median(before);
  times.copy = target_.copy(state_);
  rewrite(state_, ++step_);
  times.waits = seconds_of([&] { saver_.step(state_, due); });
  const auto last = due + save_interval - steps_before - 1;
  while (step_ < due + steps_after || (step_ < last && !saver_.is_done())) {
    if (saver_.before_write) times.waits += seconds_of(saver_.before_write);
    times.slower += train() - times.step;
    if (step_ == due + 1) times.first_slower = times.slower;
  }
  const auto result = saver_.finish();
  times.durable = result.seconds;
  times.bytes = static_cast<double>(result.bytes);
  times.stall = goes_on_ ? times.waits + times.slower : times.waits;
  return times;
}

void train_job(std::string_view key, const std::string& directory, std::size_t mib, std::size_t saves) {
  const auto ways = known_ways();
  const auto how = std::ranges::find(ways, key, &known_way::key);
  if (how == ways.end()) throw std::runtime_error("no way " + std::string(key));
  saving_trainer trainer(*how, directory, mib);
  for (std::size_t save = 0; save <= saves; ++save) {
    const auto t = trainer.train_and_save();
    if (save > 0) print_numbers({t.waits, t.slower, t.first_slower, t.stall, t.durable, t.copy, t.step, t.bytes});
  }
}

void throughput_job(const std::string& directory, std::size_t mib, std::size_t pairs, std::size_t steps) {
  auto state = trained_state(mib);
  cairn::checkpointer saver(directory, cairn_options(true, 1));
  if (saver.restore(state)) throw std::runtime_error("the checkpointer is not fresh");
  std::uint64_t step = 0;
  for (std::size_t pair = 0; pair <= pairs; ++pair) {
    training_times times;
    compute_and_rewrite(state, ++step);
    times.without = seconds_of([&] {
      for (std::size_t i = 0; i < steps; ++i) compute_and_rewrite(state, ++step);
    });
    compute_and_rewrite(state, ++step);
    std::ignore = saver.step(state, {.step = step});
    const auto begin = step;
    times.with = seconds_of([&] {
      for (cairn::step_outcome outcome; step < begin + steps || !outcome.started;) {
        compute_and_rewrite(state, ++step);
        times.stall += seconds_of([&] { outcome = saver.step(state, {.step = step}); });
        times.saves += outcome.started ? 1 : 0;
      }
    });
    saver.wait();
    const auto count = static_cast<double>(step - begin);
    if (pair > 0)
      print_numbers(
          {times.without / static_cast<double>(steps), times.with / count, times.stall / count, times.saves / count});
  }
}

void poll_job(const std::string& directory, std::size_t repetitions) {
  std::vector<float> state(1024);
  auto options = cairn_options(true, 1'000'000);
  options.preempt = {SIGTERM, SIGUSR1};
  cairn::checkpointer saver(directory, options);
  if (saver.restore(state)) throw std::runtime_error("the checkpointer is not fresh");
  std::ignore = saver.step(state, {.step = 1});
  constexpr std::size_t calls = 10'000'000;
  bool was_signalled = false;
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    const double seconds = seconds_of([&] {
      for (std::size_t i = 0; i < calls; ++i) {
        was_signalled |= saver.poll();
        asm volatile("" ::: "memory");  // as a training step would: nothing is known from the call before
      }
    });
    print_numbers({seconds / calls * 1e9});
  }
  if (was_signalled) throw std::runtime_error("poll reported a signal that nobody sent");
}

/// The lines of numbers that a child prints, `columns` in each.
std::vector<std::vector<double>> rows_of(const char* job, const setting& where, std::size_t columns,
                                         std::initializer_list<std::string> options) {
  std::vector<std::string> words{"--job", job, "--state", std::to_string(where.mib)};
  words.insert(words.end(), options);
  return numbers_of_job(std::move(words), where.directory, columns, where.patience);
}

}  // namespace

std::vector<save_times> measure_saves(const known_way& how, const setting& where, std::size_t saves) {
  std::vector<save_times> times;
  for (const auto& r :
       rows_of("train", where, 8, {"--way", std::string(how.key), "--per-process", std::to_string(saves)}))
    times.push_back({r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]});
  return times;
}

double measure_first_save(const setting& where) {
  settle(5 * (where.mib << 20) / 2, {});  // getting memory from the host is not what is asked here
  const auto rows = rows_of("first", where, 2, {});
  return rows.front()[0] / rows.front()[1];
}

double measure_peak_memory(const setting& where) { return rows_of("memory", where, 1, {}).front().front(); }

std::vector<training_times> measure_throughput(const setting& where, std::size_t pairs, std::size_t steps) {
  std::vector<training_times> times;
  for (const auto& r :
       rows_of("throughput", where, 4, {"--pairs", std::to_string(pairs), "--steps", std::to_string(steps)}))
    times.push_back({r[0], r[1], r[2], r[3]});
  return times;
}

std::vector<double> measure_poll(const setting& where, std::size_t repetitions) {
  std::vector<double> nanoseconds;
  for (const auto& r : rows_of("poll", where, 1, {"--repetitions", std::to_string(repetitions)}))
    nanoseconds.push_back(r.front());
  return nanoseconds;
}

int run_job(const arguments& options) {
  const auto& job = options.text("job");
  const auto& directory = options.text("directory");
  const auto mib = options.count("state");
  if (job == "train")
    train_job(options.text("way"), directory, mib, options.count("per-process"));
  else if (job == "first")
    first_job(directory, mib);
  else if (job == "memory")
    memory_job(directory, mib);
  else if (job == "throughput")
    throughput_job(directory, mib, options.count("pairs"), options.count("steps"));
  else if (job == "poll")
    poll_job(directory, options.count("repetitions"));
  else
    throw std::runtime_error("no job " + job);
  return 0;
}

}  // namespace bench
