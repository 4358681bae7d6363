// libtorch's modules as parts of a state: their parameters and buffers, under the names that they have in Python's state_dict.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <concepts>
#include <memory>
#include <type_traits>

#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"

namespace cairn {

namespace detail {

template <class T>
concept torch_module = std::derived_from<T, torch::nn::Module>;

template <class T>
concept torch_holder = std::is_base_of_v<torch::detail::ModuleHolderIndicator, T>;  // a private base

/// Passes the parameters, buffers and submodules of a module. Undefined ones are left out, as Python does.
template <class Field>
void torch_module_fields(const torch::nn::Module& module, const Field& field) {
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

}  // namespace detail

/// A class derived from torch::nn::Module: what it has registered, and nothing else. Loaded in place, so that optimizers that refer to its
/// parameters go on with them. errc::mismatch, before anything is changed: other names, types or shapes.
template <detail::torch_module Module>
struct adapter<Module> {
  template <class Field>
  static void fields(Module& module, const Field& field) {
    detail::torch_module_fields(module, field);
  }
};

/// What TORCH_MODULE defines, and torch::nn::Linear and the like, as the module in it. errc::invalid: there is none.
template <detail::torch_holder Holder>
struct adapter<Holder> {
  template <class Field>
  static void fields(Holder& holder, const Field& field) {
    if (holder.is_empty()) fail(errc::invalid, {"holds no module; make it before the state is saved or loaded"});
    detail::torch_module_fields(*holder, field);
  }
};

/// A pointer to a module, as the module. It is never made or replaced by a load.
template <detail::torch_module Module>
struct adapter<std::shared_ptr<Module>> {
  template <class Field>
  static void fields(std::shared_ptr<Module>& module, const Field& field) {
    if (!module) fail(errc::invalid, {"points to no module; make it before the state is saved or loaded"});
    detail::torch_module_fields(*module, field);
  }
};

}  // namespace cairn
