// SPDX-License-Identifier: MIT
// The options of libtorch's optimizers, and the states that they keep for each parameter, as parts of a state. The
// names are those of Python.
#pragma once

#include <torch/optim.h>

#include <concepts>
#include <tuple>

#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <class T, class A, class B>
concept either = std::same_as<T, A> || std::same_as<T, B>;

template <class Field, either<torch::optim::AdamOptions, torch::optim::AdamWOptions> Options>
void fields_of(Options& o, const Field& field) {
  field("lr", o.lr());
  field("betas", o.betas());
  field("eps", o.eps());
  field("weight_decay", o.weight_decay());
  field("amsgrad", o.amsgrad());
}
template <class Field>
void fields_of(torch::optim::SGDOptions& o, const Field& field) {
  field("lr", o.lr());
  field("momentum", o.momentum());
  field("dampening", o.dampening());
  field("weight_decay", o.weight_decay());
  field("nesterov", o.nesterov());
}
template <class Field>
void fields_of(torch::optim::RMSpropOptions& o, const Field& field) {
  field("lr", o.lr());
  field("alpha", o.alpha());
  field("eps", o.eps());
  field("weight_decay", o.weight_decay());
  field("momentum", o.momentum());
  field("centered", o.centered());
}
template <class Field>
void fields_of(torch::optim::AdagradOptions& o, const Field& field) {
  field("lr", o.lr());
  field("lr_decay", o.lr_decay());
  field("weight_decay", o.weight_decay());
  field("initial_accumulator_value", o.initial_accumulator_value());
  field("eps", o.eps());
}
template <class Field>
void fields_of(torch::optim::LBFGSOptions& o, const Field& field) {
  field("lr", o.lr());
  field("max_iter", o.max_iter());
  field("max_eval", o.max_eval());
  field("tolerance_grad", o.tolerance_grad());
  field("tolerance_change", o.tolerance_change());
  field("history_size", o.history_size());
  field("line_search_fn", o.line_search_fn());
}

template <class Field, either<torch::optim::AdamParamState, torch::optim::AdamWParamState> State>
void fields_of(State& s, const Field& field) {
  field("step", s.step());
  field("exp_avg", s.exp_avg());
  field("exp_avg_sq", s.exp_avg_sq());
  field("max_exp_avg_sq", s.max_exp_avg_sq());
}
template <class Field>
void fields_of(torch::optim::SGDParamState& s, const Field& field) {
  field("momentum_buffer", s.momentum_buffer());
}
template <class Field>
void fields_of(torch::optim::RMSpropParamState& s, const Field& field) {
  field("step", s.step());
  field("square_avg", s.square_avg());
  field("momentum_buffer", s.momentum_buffer());
  field("grad_avg", s.grad_avg());
}
template <class Field>
void fields_of(torch::optim::AdagradParamState& s, const Field& field) {
  field("sum", s.sum());
  field("step", s.step());
}
/// Without `al`, which each step of LBFGS fills before it reads it, and makes where it is missing.
template <class Field>
void fields_of(torch::optim::LBFGSParamState& s, const Field& field) {
  field("func_evals", s.func_evals());
  field("n_iter", s.n_iter());
  field("t", s.t());
  field("prev_loss", s.prev_loss());
  field("d", s.d());
  field("H_diag", s.H_diag());
  field("prev_flat_grad", s.prev_flat_grad());
  field("old_dirs", s.old_dirs());
  field("old_stps", s.old_stps());
  field("ro", s.ro());
}

/// One of libtorch's optimizers: its class, the options of its groups, and the state of a parameter.
template <class Optimizer, class Options, class State>
struct optimizer_type {
  using optimizer = Optimizer;
  using options = Options;
  using state = State;
  const char* name;  ///< in Python and C++
};

inline constexpr std::tuple optimizer_types(
    optimizer_type<torch::optim::Adam, torch::optim::AdamOptions, torch::optim::AdamParamState>{"Adam"},
    optimizer_type<torch::optim::AdamW, torch::optim::AdamWOptions, torch::optim::AdamWParamState>{"AdamW"},
    optimizer_type<torch::optim::SGD, torch::optim::SGDOptions, torch::optim::SGDParamState>{"SGD"},
    optimizer_type<torch::optim::RMSprop, torch::optim::RMSpropOptions, torch::optim::RMSpropParamState>{"RMSprop"},
    optimizer_type<torch::optim::Adagrad, torch::optim::AdagradOptions, torch::optim::AdagradParamState>{"Adagrad"},
    optimizer_type<torch::optim::LBFGS, torch::optim::LBFGSOptions, torch::optim::LBFGSParamState>{"LBFGS"});

/// Calls `act` with the type of the optimizer, which may be of a derived class. errc::unsupported: none of these types.
template <class Act>
void with_type_of(const torch::optim::Optimizer& optimizer, const Act& act) {
  const auto try_one = [&]<class Type>(const Type& type) {
    const bool is_it = dynamic_cast<const typename Type::optimizer*>(&optimizer) != nullptr;
    if (is_it) act(type);
    return is_it;
  };
  if (!std::apply([&](const auto&... each) { return (try_one(each) || ...); }, optimizer_types))
    fail(errc::unsupported, {"an optimizer of a type that is not libtorch's; specialise cairn::adapter for it"});
}

/// Gives a new state the tensors that it always has, with the type, device and strides of the parameter.
template <either<torch::optim::AdamParamState, torch::optim::AdamWParamState> State>
void make_tensors(State& s, const at::Tensor& parameter) {
  s.exp_avg(at::empty_like(parameter));
  s.exp_avg_sq(at::empty_like(parameter));
}
inline void make_tensors(torch::optim::SGDParamState& s, const at::Tensor& parameter) {
  s.momentum_buffer(at::empty_like(parameter));
}
inline void make_tensors(torch::optim::RMSpropParamState& s, const at::Tensor& parameter) {
  s.square_avg(at::empty_like(parameter));
}
inline void make_tensors(torch::optim::AdagradParamState& s, const at::Tensor& parameter) {
  s.sum(at::empty_like(parameter));
}
inline void make_tensors(torch::optim::LBFGSParamState& /*s*/, const at::Tensor& /*parameter*/) {}

/// Removes the tensors that a state does not always have, or has in different types: a load makes them as stored.
template <either<torch::optim::AdamParamState, torch::optim::AdamWParamState> State>
void forget_tensors(State& s) {
  s.max_exp_avg_sq(at::Tensor());
}
inline void forget_tensors(torch::optim::SGDParamState& /*s*/) {}
inline void forget_tensors(torch::optim::RMSpropParamState& s) {
  s.momentum_buffer(at::Tensor());
  s.grad_avg(at::Tensor());
}
inline void forget_tensors(torch::optim::AdagradParamState& /*s*/) {}
/// `al` has as many elements as the history can have.
inline void forget_tensors(torch::optim::LBFGSParamState& s) {
  s.d(at::Tensor());
  s.H_diag(at::Tensor());
  s.prev_flat_grad(at::Tensor());
  s.al(c10::nullopt);
}

template <class T>
concept torch_optimizer_part =
    std::derived_from<T, torch::optim::OptimizerParamState> || std::derived_from<T, torch::optim::OptimizerOptions>;

}  // namespace detail

/// The options of a group of parameters, or the state of one parameter.
template <detail::torch_optimizer_part Part>
struct adapter<Part> {
  template <class Field>
  static void fields(Part& part, const Field& field) {
    detail::fields_of(part, field);
  }
};

}  // namespace cairn::inline v0_1
