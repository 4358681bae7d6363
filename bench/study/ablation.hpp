// SPDX-License-Identifier: MIT
// What a restart must restore: leaves out one item of a checkpoint at a time and compares with the run that was not
// interrupted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lenet/dataset.hpp"
#include "study/trainer.hpp"

namespace bench::study {

/// A restart of one kind: what is left out of the load, or how the gradient is summed afterwards.
struct ablation {
  std::string key, name;
  std::vector<std::string> left_out{};  ///< members of study_state
  gradient_order sum{};
  /// Whether the weights are expected to leave those of the undisturbed run.
  bool breaks_weights = true;
};

/// Nothing left out, each item alone, other threads, and other orders of the sum.
[[nodiscard]] std::vector<ablation> all_ablations();

/// What one restart led to.
struct ablation_result {
  std::optional<std::uint64_t> weights_differ,
      state_differs;  ///< steps after the restart until they first do; nothing: never
  double accuracy_at_once = 0, accuracy_at_end = 0;
};

struct ablation_run {
  std::uint64_t failure = 0;    ///< the step of the checkpoint
  double undisturbed_then = 0;  ///< accuracy of the undisturbed run at that step
  double undisturbed_at_end = 0;
  std::vector<ablation_result> results;  ///< of all_ablations()
};

/// Trains without an interruption, saves with Cairn at the steps `failures`, and restarts from each checkpoint in every
/// way. The checkpoints go into `folder`.
[[nodiscard]] std::vector<ablation_run> run_ablations(const lenet::digits& images, const trainer_options& how,
                                                      const std::vector<std::uint64_t>& failures,
                                                      const std::filesystem::path& folder);

}  // namespace bench::study
