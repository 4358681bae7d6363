// SPDX-License-Identifier: MIT
// Real numbers to compress: a wide MLP trained on digits with Adam, and its weights step by step towards the end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// One array of the model: a layer's weight or bias.
struct parameter {
  std::string name;  ///< "layers.0.weight"
  std::size_t rows = 0, columns = 0;
};

/// The elements of every parameter, in the order of the parameters.
using parameter_values = std::vector<std::vector<float>>;

/// The weights at steps that lie equally far apart, oldest first; the last one is the end of the training.
struct weight_chain {
  std::size_t apart = 0;
  std::vector<parameter_values> snapshots;
};

struct training_run {
  std::vector<parameter> parameters;
  parameter_values weights, first_moment, second_moment;  ///< after the last step
  weight_chain ones, tens;                                ///< snapshots 1 and 10 steps apart
  std::string data;                                       ///< "MNIST" or "drawn digits"
  double loss = 0;                                        ///< of the last batch
  double accuracy = 0;                                    ///< on digits that it has not seen, 0 to 1
};

struct training_options {
  std::size_t steps = 400;
  std::size_t deltas = 20;  ///< of either chain; fewer where there are fewer steps; 0: no chains
  std::string folder;       ///< MNIST's idx files; empty: drawn digits
  std::vector<std::size_t> widths{784, 2048, 1536, 784, 10};  ///< of the layers, from the pixels to the digits
  std::size_t tested = 10'000;                                ///< digits for the accuracy, at most
};

/// Trains an MLP, by default 784-2048-1536-784-10 (5.97 million parameters): ReLU, cross entropy, batches of 128, Adam
/// at 1e-3, He's initialization, pixels scaled to 0..1. The same options give the same run on the same machine. One
/// thread. std::invalid_argument where there are too few steps for two snapshots 10 steps apart, if there are chains.
[[nodiscard]] training_run train(const training_options& options);

}  // namespace bench
