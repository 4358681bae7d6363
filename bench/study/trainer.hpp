// SPDX-License-Identifier: MIT
// A trainer with everything that a deterministic restart depends on, each item a member of its own: LeNet-5 with Adam,
// a warm-up schedule, dynamic loss scaling, and normalized images with running statistics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "lenet/dataset.hpp"
#include "lenet/network.hpp"

namespace bench::study {

/// The running mean and variance of the pixels, as of a batch normalization: training uses those of the batch,
/// evaluation these.
struct pixel_statistics {
  float mean = 0, variance = 1;
};

/// The paths of these members are the items of the ablation.
struct study_state {
  lenet::network weights, first_moment, second_moment;
  std::uint64_t adam_step{};          ///< updates done, for Adam's bias correction
  std::mt19937_64 rng;                ///< of the noise on the images, and of the shuffles
  std::uint64_t data_position{};      ///< in the order of the epoch
  std::vector<std::uint32_t> order;   ///< of the images in this epoch
  pixel_statistics buffers;           ///< not trained
  float loss_scale = 0;               ///< a power of two
  std::uint64_t steps_of_scale{};     ///< since the scale has changed
  std::uint64_t schedule_position{};  ///< in the schedule of the learning rate
  std::uint64_t step{};
};

/// How the gradient of a batch is computed: as the sum of `parts` sums over equal parts of the batch, on `threads`
/// threads.
struct gradient_order {
  unsigned parts = 4, threads = 2;
  bool is_reversed = false;  ///< the last part is the first summand
};

struct trainer_options {
  std::uint64_t steps = 1500;
  std::size_t batch = 64;
  std::uint64_t seed = 1;
};

[[nodiscard]] study_state start_training(const lenet::dataset& images, const trainer_options& how);

/// One step: the next batch with noise, its gradient as scaled fp16 numbers, and an update, unless the gradient
/// overflows: then the scale is halved.
void train_step(study_state& state, const lenet::dataset& images, const trainer_options& how,
                const gradient_order& sum);

/// The part of the images that the model classifies correctly, with the running statistics.
[[nodiscard]] double accuracy(const study_state& state, const lenet::dataset& images);

/// A hash of the bits of the weights, and one of those of the whole state.
struct state_hashes {
  std::uint64_t weights = 0, all = 0;

  [[nodiscard]] bool operator==(const state_hashes&) const = default;
};
[[nodiscard]] state_hashes hashes_of(const study_state& state);

}  // namespace bench::study
