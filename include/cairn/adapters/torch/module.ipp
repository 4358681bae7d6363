// SPDX-License-Identifier: MIT
// Definitions of module.hpp.
#pragma once

#include "cairn/adapters/torch/module.hpp"
#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1::detail {

void torch_module_fields(const torch::nn::Module& module, const adapter_field& field) {
  const auto tensors = [&](const auto& named) {
    for (const auto& each : named) {
      if (!each.value().defined()) continue;
      auto view = torch_view(each.value());  // has no `resize`: another shape is an error
      field(each.key(), view);
    }
  };
  tensors(module.named_parameters(false));
  tensors(module.named_buffers(false));
  for (const auto& each : module.named_children()) field(each.key(), *each.value());
}

}  // namespace cairn::inline v0_1::detail
