// Trains LeNet-5 on handwritten digits, and survives being stopped or killed at any moment.
#include <cairn/adapters/eigen.hpp>
#include <cairn/cairn.hpp>
#include <cairn/encode/lc.hpp>
#include <cairn/merge.hpp>

#include <Eigen/Core>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <unistd.h>

#include "drawn.hpp"
#include "idx.hpp"
#include "options.hpp"
#include "trainer.hpp"

namespace lenet {

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// How the weights and what the optimizer keeps of them are stored; all else is stored without loss.
template <class Codec>
cairn::codec_rules codecs_for_floats(Codec codec) {
  cairn::codec_rules rules;
  if constexpr (requires { codec.floor; }) {
    auto never_negative = codec;
    never_negative.floor = 0.0F;
    rules.push_back({"optimizer.second_moment.*", never_negative});
  }
  rules.push_back({"model.*", codec});
  rules.push_back({"optimizer.*", codec});
  return rules;
}

cairn::codec_rules codecs_named(const std::string& name) {
  using namespace cairn::codecs;
  if (name == "raw") return {{"*", raw{}}};
  if (name == "lossless") return {};
  if (name == "xor") return codecs_for_floats(lossless{.xor_parent = true});
  if (name == "lc2") return codecs_for_floats(lc<2>{});
  if (name == "lc3") return codecs_for_floats(lc<3>{});
  throw std::invalid_argument("--codec is raw, lossless, xor, lc2 or lc3, not '" + name + "'");
}

std::unique_ptr<cairn::checkpointer> make_checkpointer(const options& chosen) {
  if (chosen.checkpoint.empty()) return nullptr;
  cairn::checkpointer_options how{.keep_last = chosen.keep,
                                  .codecs = codecs_named(chosen.codec),
                                  .chain = {.anchor_every = 20, .merge_every = 4},
                                  .on_busy = cairn::when_busy::wait,
                                  .preempt = {SIGTERM, SIGUSR1}};
  if (chosen.every > 0) how.when = cairn::policies::every_steps{chosen.every};  // else by what saves are seen to cost
  cairn::observer on_terminal, to_file;
  if (isatty(STDERR_FILENO)) on_terminal = cairn::observers::progress_line{};
  if (!chosen.events.empty()) to_file = cairn::observers::json_lines{chosen.events};
  how.on_event = cairn::observers::all{on_terminal, to_file};
  return std::make_unique<cairn::checkpointer>(chosen.checkpoint, std::move(how));
}

/// A line about the epoch that has just ended; none when `leave()` breaks off the test.
template <class Optimizer, class Leave>
void print_epoch(const trainer_state<Optimizer>& state, const dataset& test, const Leave& leave) {
  const auto on_test = accuracy(state.model, test, leave);
  if (!on_test) return;
  const auto mean = [&](auto sum) { return static_cast<double>(sum) / static_cast<double>(state.data.items()); };
  std::cout << "epoch " << state.data.epoch() << "  loss " << mean(state.score.loss) << "  accuracy "
            << mean(state.score.correct) << ", on the test images " << *on_test << '\n';
}

void print_costs(const cairn::save_stats& all) {
  const auto per_save = [&](auto sum) { return static_cast<double>(sum) / static_cast<double>(all.saves); };
  std::cout << "; " << all.saves << " checkpoints, " << 1e3 * per_save(all.stall_seconds) << " ms of waiting, "
            << 1e3 * per_save(all.background_seconds) << " ms in the background and " << all.bytes / all.saves
            << " bytes each";
}

template <class Optimizer>
void train(const options& chosen, const digits& data) {
  const auto began = std::chrono::steady_clock::now();
  auto state =
      start<Optimizer>(data.train.size(), {.seed = chosen.seed, .batch = chosen.batch, .epochs = chosen.epochs});
  auto checkpoints = make_checkpointer(chosen);
  const auto asked_to_stop = [&] { return checkpoints && checkpoints->poll(); };
  if (checkpoints) {
    if (const auto found = checkpoints->restore(state)) {
      std::cout << "resumed from step " << state.step << " (" << found->path << ")\n";
      if (state.data.position() == 0) print_epoch(state, data.test, asked_to_stop);
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
    if (batch.ends_epoch) print_epoch(state, data.test, asked_to_stop);
    if (checkpoints) saved = checkpoints->step(state, {.step = state.step, .loss = loss});
    if (saved.stop) break;
  }
  if (checkpoints) checkpoints->wait();
  if (saved.stop) {
    std::cout << "stopped at step " << state.step << ", saved in " << 1e3 * saved.stall_seconds << " ms\n";
    return;
  }

  std::cout << "trained to step " << state.step << " in " << seconds_since(began) << " s";
  if (const auto all = checkpoints ? checkpoints->stats() : cairn::save_stats{}; all.saves > 0) print_costs(all);
  std::cout << "\nstate " << fingerprint::of(state) << '\n';
}

void run(const options& chosen) {
  const auto limit = chosen.limit == 0 ? std::numeric_limits<std::size_t>::max() : chosen.limit;
  const auto data = chosen.data.empty() ? draw_digits(limit) : read_digits(chosen.data, limit);
  std::cout << "LeNet-5 on " << data.train.size() << (chosen.data.empty() ? " drawn" : "") << " digits, "
            << chosen.optimizer << ", batches of " << chosen.batch << '\n';
  if (chosen.optimizer == "adam") {
    train<adam<network>>(chosen, data);
  } else {
    train<sgd<network>>(chosen, data);
  }
}

}  // namespace lenet

int main(int argc, char** argv) {
  std::cout << std::fixed << std::setprecision(4) << std::unitbuf;  // a killed run has printed what it did
  // Products are summed block by block: blocks of one size on every machine, hence sums in one order.
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);
  try {
    lenet::run(lenet::parse_options(argc, argv));
  } catch (const std::exception& fault) {
    std::cerr << "lenet: " << fault.what() << '\n';
    return 1;
  }
}
