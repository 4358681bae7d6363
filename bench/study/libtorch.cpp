// SPDX-License-Identifier: MIT
// PyTorch's zip archive, by torch::save and torch::load: rank 0 writes.
#include <torch/torch.h>

#include <chrono>
#include <stdexcept>

#include "save_load/method.hpp"
#include "study/formats.hpp"

namespace bench::study {
namespace {

double save(const std::string& path, const study_model& model, unsigned /*ranks*/) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<torch::Tensor> tensors;
  for_each_array(model, [&](const std::string&, const model_array& each) {
    tensors.push_back(torch::from_blob(const_cast<float*>(each.values.data()),
                                       std::vector<std::int64_t>(each.shape.begin(), each.shape.end()),
                                       torch::kFloat32));
  });
  torch::save(tensors, path + "/model.pt");
  flush_file(path + "/model.pt");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void load(const std::string& path, study_model& into) {
  std::vector<torch::Tensor> tensors;
  torch::load(tensors, path + "/model.pt");
  std::size_t index = 0;
  for_each_array(into, [&](const std::string& name, model_array& each) {
    const auto& from = tensors.at(index++);
    if (static_cast<std::size_t>(from.numel()) != each.values.size())
      throw std::runtime_error(name + " has another size");
    std::copy_n(from.data_ptr<float>(), each.values.size(), each.values.begin());
  });
}

}  // namespace

format libtorch_format() { return {"libtorch", "PyTorch zip", false, save, load}; }

}  // namespace bench::study
