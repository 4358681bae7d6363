// SPDX-License-Identifier: MIT
// Trains LeNet-5 on handwritten digits. It can be stopped or killed at any time, and
// continues when it is started again.
#include <cairn/adapters/eigen.hpp>
#include <cairn/cairn.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>

#include "options.hpp"
#include "program.hpp"
#include "trainer.hpp"

namespace lenet {

std::unique_ptr<cairn::checkpointer> make_checkpointer(const options& chosen) {
  if (chosen.checkpoint.empty()) return nullptr;
  return std::make_unique<cairn::checkpointer>(chosen.checkpoint, how_to_save(chosen));
}

/// Prints a line about the epoch that has ended; none if `leave()` ends the test early.
template <class Optimizer, class Leave>
void test_epoch(const trainer_state<Optimizer>& state, const dataset& test,
                const Leave& leave) {
  if (const auto on_test = accuracy(state.model, test, leave))
    print_epoch(state, *on_test);
}

void print_costs(const cairn::save_stats& all) {
  const auto per_save = [&](auto sum) {
    return static_cast<double>(sum) / static_cast<double>(all.saves);
  };
  std::cout << "; " << all.saves << " checkpoints, "
            << 1e3 * per_save(all.stall_seconds) << " ms of waiting, "
            << 1e3 * per_save(all.background_seconds) << " ms in the background and "
            << all.bytes / all.saves << " bytes each";
}

template <class Optimizer>
void train(const options& chosen, const digits& data) {
  const auto began = std::chrono::steady_clock::now();
  auto state = start<Optimizer>(
      data.train.size(),
      {.seed = chosen.seed, .batch = chosen.batch, .epochs = chosen.epochs});
  auto checkpoints = make_checkpointer(chosen);
  const auto asked_to_stop = [&] { return checkpoints && checkpoints->poll(); };
  if (checkpoints) {
    if (const auto found = checkpoints->restore(state)) {
      std::cout << "resumed from step " << state.step << " (" << found->path << ")\n";
      if (state.data.position() == 0) test_epoch(state, data.test, asked_to_stop);
    }
  }

  cairn::step_outcome saved;
  for (const cairn::batch& batch : state.data) {
    const float loss = train_one_step(state, data.train, batch);
    if (state.step == chosen.kill_at) std::raise(SIGKILL);
    if (state.step == chosen.stop_at) std::raise(SIGTERM);
    if (chosen.print != 0 && state.step % chosen.print == 0) {
      std::cout << "step " << state.step << "  loss " << loss << '\n';
    }
    if (batch.ends_epoch) test_epoch(state, data.test, asked_to_stop);
    if (checkpoints)
      saved = checkpoints->step(state, {.step = state.step, .loss = loss});
    if (saved.stop) break;
  }
  if (checkpoints) checkpoints->wait();
  if (saved.stop) {
    std::cout << "stopped at step " << state.step << ", saved in "
              << 1e3 * saved.stall_seconds << " ms\n";
    return;
  }

  std::cout << "trained to step " << state.step << " in " << seconds_since(began)
            << " s";
  if (const auto all = checkpoints ? checkpoints->stats() : cairn::save_stats{};
      all.saves > 0)
    print_costs(all);
  std::cout << "\nstate " << fingerprint::of(state) << '\n';
}

void run(const options& chosen) {
  const auto data = load_digits(chosen);
  if (chosen.optimizer == "adam") {
    train<adam<network>>(chosen, data);
  } else {
    train<sgd<network>>(chosen, data);
  }
}

}  // namespace lenet

int main(int argc, char** argv) {
  lenet::prepare_process();
  try {
    lenet::run(lenet::parse_options(argc, argv));
  } catch (const std::exception& fault) {
    std::cerr << "lenet: " << fault.what() << '\n';
    return 1;
  }
}
