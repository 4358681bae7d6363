// SPDX-License-Identifier: MIT
// How the old program saved its state with torch::save.
#pragma once

#include <filesystem>
#include <vector>

#include "training.hpp"

// [archive]
inline void write_files(const trainer& all) {
  torch::save(all.model, "model.pt");
  torch::save(all.adam, "adam.pt");
  torch::save(
      std::vector<torch::Tensor>{all.random.get_state(),
                                 torch::tensor(static_cast<std::int64_t>(all.step))},
      "rest.pt");
}

inline void read_files(trainer& all) {
  torch::load(all.model, "model.pt");
  torch::load(all.adam, "adam.pt");
  std::vector<torch::Tensor> rest;
  torch::load(rest, "rest.pt");
  all.random.set_state(rest.at(0));
  all.step = static_cast<std::uint64_t>(rest.at(1).item<std::int64_t>());
}
// [archive]
