// SPDX-License-Identifier: MIT
// libtorch's torch::save and torch::load of a list of tensors that view the state's memory.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "save_load/method.hpp"

namespace bench {
namespace {

// torch::load makes new tensors, also for a module that is already built (`set_data`); it is not charged with
// a copy back.
std::vector<torch::Tensor> loaded;

void save(const std::string& path, const training_state& state, bool durable) {
  std::vector<torch::Tensor> tensors;
  for_each_tensor(state, [&](const std::string&, const tensor& t) {
    tensors.push_back(torch::from_blob(const_cast<float*>(t.values.data()),
                                       std::vector<std::int64_t>(t.shape.begin(), t.shape.end()), torch::kFloat32));
  });
  tensors.push_back(torch::tensor(static_cast<std::int64_t>(state.step)));
  torch::save(tensors, path);
  if (durable) flush_file(path);
}

void load(const std::string& path, training_state&) { torch::load(loaded, path); }

void collect(training_state& state) {
  if (loaded.empty()) throw std::runtime_error("torch::load gave nothing");
  if (state.weights.blocks.empty())
    for (auto* model : {&state.weights, &state.first_moment, &state.second_moment})
      model->blocks.resize((loaded.size() - 1) / 3 / 12);
  std::size_t index = 0;
  for_each_tensor(state, [&](const std::string&, tensor& t) {
    const auto& from = loaded.at(index++);
    t.shape.assign(from.sizes().begin(), from.sizes().end());
    t.values.assign(from.data_ptr<float>(), from.data_ptr<float>() + from.numel());
  });
  state.step = static_cast<std::uint64_t>(loaded.back().item<std::int64_t>());
  loaded.clear();
}

}  // namespace

method libtorch_method() { return {.name = "libtorch", .save = save, .load = load, .collect = collect}; }

}  // namespace bench
