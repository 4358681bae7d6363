// SPDX-License-Identifier: MIT
#include "study/ablation.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>

#include <unistd.h>

#include "cairn/adapters/eigen.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"

namespace bench::study {
namespace {

constexpr gradient_order usual{};

/// Is `path` that of the member `name`, or below it?
bool is_part_of(std::string_view path, std::string_view name) {
  return path == name || (path.starts_with(name) && path.substr(name.size()).starts_with('.'));
}

/// The state of a new process that has loaded the checkpoint but for what is left out, which is as at the start of a
/// training.
study_state restart(const lenet::digits& images, const trainer_options& how, const std::string& checkpoint,
                    const std::vector<std::string>& left_out) {
  auto state = start_training(images.train, how);
  const auto is_loaded = [&](std::string_view path) {
    return std::none_of(left_out.begin(), left_out.end(), [&](const auto& name) { return is_part_of(path, name); });
  };
  cairn::load(checkpoint, state, {.strict = false, .filter = is_loaded});
  return state;
}

/// Trains to the end. `undisturbed`: the hashes of the other run after each step of the whole training.
ablation_result continue_from(study_state state, const lenet::digits& images, const trainer_options& how,
                              const gradient_order& sum, std::span<const state_hashes> undisturbed) {
  ablation_result result;
  result.accuracy_at_once = accuracy(state, images.test);
  const auto first = state.step;
  while (state.step < how.steps) {
    train_step(state, images.train, how, sum);
    const auto now = hashes_of(state), then = undisturbed[state.step - 1];
    if (!result.weights_differ && now.weights != then.weights) result.weights_differ = state.step - first;
    if (!result.state_differs && now != then) result.state_differs = state.step - first;
  }
  result.accuracy_at_end = accuracy(state, images.test);
  return result;
}

}  // namespace

std::vector<ablation> all_ablations() {
  return {
      {.key = "nothing", .name = "nothing", .breaks_weights = false},
      {.key = "first_moment", .name = "momentum (first moment)", .left_out = {"first_moment"}},
      {.key = "second_moment", .name = "second moment", .left_out = {"second_moment"}},
      {.key = "adam_step", .name = "Adam's step", .left_out = {"adam_step"}},
      {.key = "optimizer", .name = "the whole optimizer", .left_out = {"first_moment", "second_moment", "adam_step"}},
      {.key = "rng", .name = "random number generator", .left_out = {"rng"}},
      {.key = "data_position", .name = "data position", .left_out = {"data_position"}},
      {.key = "order", .name = "shuffle order", .left_out = {"order"}},
      {.key = "buffers", .name = "buffers", .left_out = {"buffers"}, .breaks_weights = false},
      {.key = "loss_scale", .name = "loss scale", .left_out = {"loss_scale", "steps_of_scale"}},
      {.key = "schedule", .name = "learning-rate schedule", .left_out = {"schedule_position"}},
      {.key = "threads",
       .name = "nothing; 1 thread instead of 2",
       .sum = {usual.parts, 1, false},
       .breaks_weights = false},
      {.key = "parts", .name = "nothing; 2 partial sums instead of 4", .sum = {2, usual.threads, false}},
      {.key = "reversed", .name = "nothing; partial sums added in reverse", .sum = {usual.parts, usual.threads, true}}};
}

std::vector<ablation_run> run_ablations(const lenet::digits& images, const trainer_options& how,
                                        const std::vector<std::uint64_t>& failures,
                                        const std::filesystem::path& folder) {
  const auto checkpoint = [&](std::uint64_t step) { return (folder / std::to_string(step)).string(); };
  std::vector<ablation_run> runs;
  std::vector<state_hashes> undisturbed;
  auto state = start_training(images.train, how);
  while (state.step < how.steps) {
    train_step(state, images.train, how, usual);
    undisturbed.push_back(hashes_of(state));
    if (std::find(failures.begin(), failures.end(), state.step) == failures.end()) continue;
    cairn::save(checkpoint(state.step), state, {.durable = false});
    runs.push_back({.failure = state.step, .undisturbed_then = accuracy(state, images.test), .results = {}});
  }
  const double at_end = accuracy(state, images.test);
  for (auto& run : runs) {
    run.undisturbed_at_end = at_end;
    for (const auto& each : all_ablations()) {
      if (::isatty(STDERR_FILENO) != 0)
        std::fprintf(stderr, "\rfrom step %llu: %-40s", static_cast<unsigned long long>(run.failure),
                     each.name.c_str());
      run.results.push_back(continue_from(restart(images, how, checkpoint(run.failure), each.left_out), images, how,
                                          each.sum, undisturbed));
    }
  }
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%70s\r", "");
  return runs;
}

}  // namespace bench::study
