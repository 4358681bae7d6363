// SPDX-License-Identifier: MIT
// What the programs that train LeNet-5 have in common: the options of their
// checkpoints, their data and their output.
#pragma once

#include <cairn/cairn.hpp>
#include <cairn/encode/lc.hpp>
#include <cairn/merge.hpp>

#include <Eigen/Core>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "drawn.hpp"
#include "idx.hpp"
#include "options.hpp"
#include "trainer.hpp"

namespace lenet {

inline void prepare_process() {
  // a killed run has printed all its lines
  std::cout << std::fixed << std::setprecision(4) << std::unitbuf;
  // Eigen chooses block sizes by the sizes of the caches. Fixed sizes give the same
  // order of additions on every machine.
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);
}

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// Rules that apply `codec` to the weights and the state of the optimizer; all other
/// leaves are stored without loss.
template <class Codec>
[[nodiscard]] cairn::codec_rules codecs_for_floats(Codec codec) {
  cairn::codec_rules rules;
  if constexpr (requires { codec.delta; }) {
    auto ratios = codec;
    ratios.delta = cairn::delta_kind::ratio;
    rules.push_back({"optimizer.second_moment.*", ratios});
  }
  rules.push_back({"model.*", codec});
  rules.push_back({"optimizer.*", codec});
  return rules;
}

[[nodiscard]] inline cairn::codec_rules codecs_named(const std::string& name) {
  using namespace cairn::codecs;
  if (name == "raw") return {{"*", raw{}}};
  if (name == "lossless") return {};
  if (name == "xor") return codecs_for_floats(lossless{.xor_parent = true});
  if (name == "lc2")
    return codecs_for_floats(
        lc<2>{.priority = cairn::promotion::energy, .max_delta_l2 = 0.9});
  if (name == "lc3") return codecs_for_floats(lc<3>{});
  throw std::invalid_argument("--codec is raw, lossless, xor, lc2 or lc3, not '" +
                              name + "'");
}

[[nodiscard]] inline cairn::checkpointer_options how_to_save(const options& chosen) {
  cairn::checkpointer_options how{
      .keep_last = chosen.keep,
      .codecs = codecs_named(chosen.codec),
      .chain = {.anchor_every = 20, .merge = cairn::merging{.every = 4}},
      .on_busy = cairn::when_busy::wait,
      .preempt = {SIGTERM, SIGUSR1}};
  // else the default policy
  if (chosen.every > 0) how.when = cairn::policies::every_steps{chosen.every};
  cairn::observer on_terminal, to_file;
  if (isatty(STDERR_FILENO)) on_terminal = cairn::observers::progress_line{};
  if (!chosen.events.empty()) to_file = cairn::observers::json_lines{chosen.events};
  how.on_event = cairn::observers::all{on_terminal, to_file};
  return how;
}

/// The digits that the command line names; prints what they are.
[[nodiscard]] inline digits load_digits(const options& chosen) {
  const auto limit =
      chosen.limit == 0 ? std::numeric_limits<std::size_t>::max() : chosen.limit;
  auto data =
      chosen.data.empty() ? draw_digits(limit) : read_digits(chosen.data, limit);
  std::cout << "LeNet-5 on " << data.train.size()
            << (chosen.data.empty() ? " drawn" : "") << " digits, " << chosen.optimizer
            << ", batches of " << chosen.batch << '\n';
  return data;
}

/// Prints a line about the epoch that has ended.
template <class Optimizer>
void print_epoch(const trainer_state<Optimizer>& state, double accuracy_on_test) {
  const auto mean = [&](auto sum) {
    return static_cast<double>(sum) / static_cast<double>(state.data.items());
  };
  std::cout << "epoch " << state.data.epoch() << "  loss " << mean(state.score.loss)
            << "  accuracy " << mean(state.score.correct) << ", on the test images "
            << accuracy_on_test << '\n';
}

}  // namespace lenet
