// SPDX-License-Identifier: MIT
// libtorch's modules as parts of a state: their parameters and buffers, named as in Python's state_dict.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <concepts>
#include <memory>
#include <type_traits>

#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <class T>
concept torch_module = std::derived_from<T, torch::nn::Module> && !requires { T::cairn_fields(); };

template <class T>
concept torch_holder = std::is_base_of_v<torch::detail::ModuleHolderIndicator, T>;  // a private base

/// Passes the parameters, buffers and submodules of a module. Undefined ones are left out, as Python does.
void torch_module_fields(const torch::nn::Module& module, const adapter_field& field);

/// What a holder or a pointer leads to, by an adapter of its class.
template <class Module, class Field>
void torch_held_fields(Module* module, const Field& field) {
  if (module == nullptr) fail(errc::invalid, {"holds no module; make it before the state is saved or loaded"});
  if constexpr (requires { adapter<Module>::fields(*module, field); })
    adapter<Module>::fields(*module, field);
  else
    torch_module_fields(*module, field);
}

}  // namespace detail

/// A class derived from torch::nn::Module, without a line `cairn_fields`: what it has registered, and nothing else.
/// Loaded in place, so that optimizers that refer to its parameters go on with them. errc::mismatch, before anything is
/// changed: other names, types or shapes.
template <detail::torch_module Module>
struct adapter<Module> {
  template <class Field>
  static void fields(Module& module, const Field& field) {
    detail::torch_module_fields(module, field);
  }
};

/// A holder, which TORCH_MODULE defines, is saved as the module that it holds. errc::invalid: it holds none.
template <detail::torch_holder Holder>
struct adapter<Holder> {
  template <class Field>
  static void fields(Holder& holder, const Field& field) {
    detail::torch_held_fields(holder.is_empty() ? nullptr : holder.ptr().get(), field);
  }
  [[nodiscard]] static Holder make() { return Holder(nullptr); }
};

/// A pointer to a module is saved as the module. A load never makes or replaces it.
template <detail::torch_module Module>
struct adapter<std::shared_ptr<Module>> {
  template <class Field>
  static void fields(std::shared_ptr<Module>& module, const Field& field) {
    detail::torch_held_fields(module.get(), field);
  }
};
template <detail::torch_module Module>
struct adapter<std::unique_ptr<Module>> {
  template <class Field>
  static void fields(std::unique_ptr<Module>& module, const Field& field) {
    detail::torch_held_fields(module.get(), field);
  }
};

}  // namespace cairn::inline v0_1
