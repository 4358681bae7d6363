// SPDX-License-Identifier: MIT
// libtorch's optimizers as parts of a state: their options and the state of each parameter, under the names of Python's
// state_dict where it has them.
#pragma once

#include <torch/optim.h>

#include <concepts>
#include <memory>

#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// The classes of libtorch, by which a part of a state can be declared.
template <class T>
concept torch_optimizer = std::same_as<T, torch::optim::Optimizer> || std::same_as<T, torch::optim::Adam> ||
                          std::same_as<T, torch::optim::AdamW> || std::same_as<T, torch::optim::SGD> ||
                          std::same_as<T, torch::optim::RMSprop> || std::same_as<T, torch::optim::Adagrad> ||
                          std::same_as<T, torch::optim::LBFGS>;

/// Passes the parts of an optimizer. errc::unsupported: an optimizer of another library.
void fields_of_optimizer(torch::optim::Optimizer& optimizer, const adapter_field& field);

/// Whether an optimizer is of a class of libtorch, and not of one derived from it, which may have more state.
[[nodiscard]] bool is_of_libtorch(const torch::optim::Optimizer& optimizer);

}  // namespace detail

/// Adam, AdamW, SGD, RMSprop, Adagrad and LBFGS. Paths: `kind`; `param_groups.<i>.lr` and the other options of group i;
/// `params.<i>` are the numbers of its parameters, over all groups, and `shapes` their shapes; `state.<n>.exp_avg` and
/// the like, of parameter n; `state_numbers` are the parameters that have a state. A load makes the states that an
/// optimizer makes in its first step. errc::mismatch, before anything is changed: an optimizer of another type, or with
/// other groups. errc::unsupported: an optimizer of another library. For a class derived from one of these, write an
/// adapter that passes the base class and what the class adds: `field("base",
/// static_cast<torch::optim::Adam&>(optimizer))`.
template <detail::torch_optimizer Optimizer>
struct adapter<Optimizer> {
  template <class Field>
  static void fields(Optimizer& optimizer, const Field& field) {
    detail::fields_of_optimizer(optimizer, field);
  }
};

namespace detail {

/// errc::invalid: null. errc::unsupported: an object of a derived class, which may have more state than its base class.
template <class Pointer, class Field>
void torch_pointed_fields(const Pointer& optimizer, const Field& field) {
  using type = typename Pointer::element_type;
  if (!optimizer) fail(errc::invalid, {"points to no optimizer; make it before the state is saved or loaded"});
  if constexpr (!torch_optimizer<type>)
    adapter<type>::fields(*optimizer, field);
  else if (is_of_libtorch(*optimizer))
    fields_of_optimizer(*optimizer, field);
  else
    fail(errc::unsupported, {"points to an optimizer of a class derived from one of libtorch's: use a pointer to that "
                             "class, and specialise cairn::adapter for it"});
}

}  // namespace detail

/// A pointer to an optimizer is saved as the optimizer. A load never makes or replaces it. errc::unsupported: a pointer
/// to a class of libtorch, and the object is of a derived class.
template <std::derived_from<torch::optim::Optimizer> Optimizer>
struct adapter<std::unique_ptr<Optimizer>> {
  template <class Field>
  static void fields(std::unique_ptr<Optimizer>& optimizer, const Field& field) {
    detail::torch_pointed_fields(optimizer, field);
  }
};
template <std::derived_from<torch::optim::Optimizer> Optimizer>
struct adapter<std::shared_ptr<Optimizer>> {
  template <class Field>
  static void fields(std::shared_ptr<Optimizer>& optimizer, const Field& field) {
    detail::torch_pointed_fields(optimizer, field);
  }
};

}  // namespace cairn::inline v0_1
