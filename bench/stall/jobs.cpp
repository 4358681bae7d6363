// Child processes of the bench: each makes a state, does one thing with it and prints numbers.
#include "stall/jobs.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "common/memory.hpp"
#include "common/process.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "stall/cairn.hpp"
#include "stall/copy.hpp"
#include "stall/trainer.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

/// Steps before the first save: what a trainer does anyhow, and time enough to make buffers ready.
constexpr std::uint64_t first_interval = 8;

void print(std::initializer_list<double> values) {
  for (const double value : values) std::printf("%.9g ", value);
  std::printf("\n");
}

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
    if (step == first_interval) print({waited, copied});
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
      saver.step(state, {.step = step});
    }
    saver.wait();
  });
  print({static_cast<double>(peak) / static_cast<double>(bytes)});
}

void throughput_job(const std::string& directory, std::size_t mib, std::size_t repetitions, std::size_t steps) {
  auto state = trained_state(mib);
  cairn::checkpointer saver(directory, cairn_options(true, 1));
  if (saver.restore(state)) throw std::runtime_error("the checkpointer is not fresh");
  std::uint64_t step = 0;
  for (std::size_t repetition = 0; repetition <= repetitions; ++repetition) {
    training_times times;
    settle(0, std::chrono::seconds(5));
    compute_and_rewrite(state, ++step);
    times.without = seconds_of([&] {
      for (std::size_t i = 0; i < steps; ++i) compute_and_rewrite(state, ++step);
    });
    settle(0, std::chrono::seconds(5));
    compute_and_rewrite(state, ++step);
    saver.step(state, {.step = step});
    times.with = seconds_of([&] {
      for (std::size_t i = 0; i < steps; ++i) {
        compute_and_rewrite(state, ++step);
        cairn::step_outcome outcome;
        times.stall += seconds_of([&] { outcome = saver.step(state, {.step = step}); });
        times.saves += outcome.started ? 1 : 0;
      }
    });
    saver.wait();
    if (repetition > 0) print({times.without, times.with, times.stall, times.saves});
  }
}

void poll_job(const std::string& directory, std::size_t repetitions) {
  std::vector<float> state(1024);
  auto options = cairn_options(true, 1'000'000);
  options.preempt = {SIGTERM, SIGUSR1};
  cairn::checkpointer saver(directory, options);
  if (saver.restore(state)) throw std::runtime_error("the checkpointer is not fresh");
  saver.step(state, {.step = 1});
  constexpr std::size_t calls = 10'000'000;
  bool told = false;
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    const double seconds = seconds_of([&] {
      for (std::size_t i = 0; i < calls; ++i) {
        told |= saver.poll();
        asm volatile("" ::: "memory");  // as a training step would: nothing is known from the call before
      }
    });
    print({seconds / calls * 1e9});
  }
  if (told) throw std::runtime_error("poll told of a signal that nobody sent");
}

/// The numbers that a child prints: `columns` in every line.
std::vector<double> values_of(const std::string& job, const std::string& directory, std::size_t columns,
                              std::size_t mib, std::size_t repetitions = 1, std::size_t steps = 1) {
  fs::create_directories(directory);
  const auto child = run({"/proc/self/exe", "--job", job, "--directory", directory, "--state", std::to_string(mib),
                          "--saves", std::to_string(repetitions), "--steps", std::to_string(steps)});
  fs::remove_all(directory);
  std::istringstream words(child.output);
  std::vector<double> values;
  for (double value = 0; words >> value;) values.push_back(value);
  if (child.status != 0 || !words.eof() || values.size() != columns * repetitions)
    throw std::runtime_error(job + ": " + child.output);
  return values;
}

}  // namespace

first_save measure_first_save(const std::string& directory, std::size_t mib) {
  const auto values = values_of("first", directory, 2, mib);
  return {values[0], values[1]};
}

double measure_peak_memory(const std::string& directory, std::size_t mib) {
  return values_of("memory", directory, 1, mib).front();
}

std::vector<training_times> measure_throughput(const std::string& directory, std::size_t mib, std::size_t repetitions,
                                               std::size_t steps) {
  const auto values = values_of("throughput", directory, 4, mib, repetitions, steps);
  std::vector<training_times> times;
  for (std::size_t i = 0; i < values.size(); i += 4)
    times.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
  return times;
}

std::vector<double> measure_poll(const std::string& directory, std::size_t repetitions) {
  return values_of("poll", directory, 1, 1, repetitions);
}

int run_job(const arguments& options) {
  const auto& job = options.text("job");
  const auto& directory = options.text("directory");
  const auto mib = options.count("state");
  if (job == "first")
    first_job(directory, mib);
  else if (job == "memory")
    memory_job(directory, mib);
  else if (job == "throughput")
    throughput_job(directory, mib, options.count("saves"), options.count("steps"));
  else if (job == "poll")
    poll_job(directory, options.count("saves"));
  else
    throw std::runtime_error("no job " + job);
  return 0;
}

}  // namespace bench
