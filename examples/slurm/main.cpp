// SPDX-License-Identifier: MIT
// A trainer for jobs of Slurm that are preempted, requeued, have a time limit, or are
// tasks of an array. train.sh is its job script. Usage: slurm <place> <steps>
// [milliseconds per step] [seconds between the last save and the limit] [step at which
// it waits for a signal]
#include <cairn/cairn.hpp>
#include <cairn/slurm.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct trainer_state {
  std::vector<double> weights = std::vector<double>(1000);
  std::mt19937_64 random;
  std::uint64_t step = 0;
};

void train_one_step(trainer_state& state, std::chrono::milliseconds least) {
  std::normal_distribution<> noise;
  for (double& weight : state.weights) weight = 0.99 * weight + noise(state.random);
  ++state.step;
  std::this_thread::sleep_for(least);
}

/// For the test.
void wait_for_signal(const cairn::checkpointer& ckpt) {
  std::cout << "waiting for a signal" << std::endl;
  while (!ckpt.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int train(const std::string& run, std::uint64_t steps, std::chrono::milliseconds least,
          std::chrono::seconds margin, std::uint64_t wait_at) {
  const char* const task = std::getenv("SLURM_ARRAY_TASK_ID");
  trainer_state state{.random = std::mt19937_64(
                          task != nullptr ? std::strtoull(task, nullptr, 10) : 0)};
  // [slurm]
  std::signal(SIGTERM, SIG_IGN);  // of a second one; `preempt` takes the first
  cairn::checkpointer ckpt{
      cairn::slurm::place(run),  // one for each task of an array
      {.keep_last = 2, .preempt = {SIGTERM}, .until = cairn::slurm::job_end(margin)}};
  if (ckpt.restore(state)) std::cout << "resumed from step " << state.step << '\n';
  while (state.step < steps) {
    train_one_step(state, least);
    if (state.step == wait_at) wait_for_signal(ckpt);
    if (ckpt.step(state, {.step = state.step}).stop) {
      std::cout << (ckpt.poll() ? "preempted" : "time limit") << ": stopped at step "
                << state.step << '\n';
      return 75;  // the job is not done: the job script requeues it
    }
  }
  ckpt.save(state, {.step = state.step});
  // [slurm]
  std::cout << "trained to step " << state.step << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : 0;
  };
  if (argc < 3) {
    std::cerr << "usage: slurm <place> <steps> [milliseconds per step] [margin in "
                 "seconds] [step to wait at]\n";
    return 2;
  }
  try {
    return train(argv[1], number(2), std::chrono::milliseconds(number(3)),
                 std::chrono::seconds(number(4)), number(5));
  } catch (const std::exception& fault) {
    std::cerr << "slurm: " << fault.what() << '\n';
    return 1;
  }
}
