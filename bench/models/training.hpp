// SPDX-License-Identifier: MIT
// One training run of any model: what checkpoints and experiments need of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cairn/state/base.hpp"

#include "models/data.hpp"

namespace bench::models {

struct gpt_shape;

/// What a checkpoint has.
enum class part { weights, weights_and_optimizer };

/// The arrays of a run after `iteration` iterations.
struct snapshot {
  std::uint64_t iteration = 0;
  arrays weights, slots;
};

/// The batch of an iteration depends on the seed and the iteration alone: a run that goes on from an earlier iteration
/// sees the same data again.
class training {
 public:
  training() = default;
  training(const training&) = delete;
  training& operator=(const training&) = delete;
  virtual ~training() = default;

  /// One iteration. std::runtime_error if the loss of its batch is not finite: the run diverges.
  virtual void step() = 0;
  [[nodiscard]] virtual std::uint64_t iteration() const = 0;
  /// On the evaluation batch; not finite where the run has diverged.
  [[nodiscard]] virtual double loss() const = 0;
  [[nodiscard]] virtual score test() const = 0;

  [[nodiscard]] virtual snapshot copy() const = 0;
  /// Bytes of each weight in a checkpoint: 4, or 2 in BF16. Numbers of the optimizer have 4.
  [[nodiscard]] virtual double bytes_per_weight() const = 0;
  /// Goes on from there. Without slots the optimizer starts anew.
  virtual void go_to(const snapshot& from) = 0;
  /// What a checkpointer saves and restores; then `restored` must follow.
  [[nodiscard]] virtual cairn::any_mutable_state state(part what) = 0;
  /// The state has been loaded as it was after `iteration` iterations.
  virtual void restored(part what, std::uint64_t iteration) = 0;
};

/// A model with its data and its optimizer.
struct setting {
  std::string name;            ///< "lr"
  std::uint64_t period = 0;    ///< iterations between checkpoints
  std::uint64_t evaluate = 1;  ///< iterations between evaluations of the loss, while a run catches up
  std::uint64_t periods = 0;   ///< of a run
  bool has_slots = false;      ///< the optimizer has arrays
  std::function<std::unique_ptr<training>(std::uint64_t seed)> start;
  std::size_t failures = 8;  ///< in a run; fewer where a restart takes long
};

/// A GPT over a made text. `is_bf16`: its weights are in BF16, with master weights in FP32.
[[nodiscard]] setting gpt_setting(const std::string& name, const gpt_shape& shape, bool is_bf16);

/// "lr", "mf", "lenet", "alexnet", "gpt", "gpt_bf16". `data` has the folders mnist and jester; empty: made data.
/// std::runtime_error for another name, and for data that is missing or malformed.
[[nodiscard]] setting setting_of(const std::string& model, const std::filesystem::path& data);

}  // namespace bench::models
