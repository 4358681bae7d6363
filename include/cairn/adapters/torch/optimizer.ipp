// SPDX-License-Identifier: MIT
// Definitions of optimizer.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "cairn/adapters/torch/optimizer.hpp"
#include "cairn/adapters/torch/optimizer_parts.hpp"
#include "cairn/adapters/torch/tensor.ipp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// A type by which one part of an optimizer has an adapter: the optimizer's address, seen as another type. Loads know
/// objects by address and type. No object of it exists.
template <class What>
struct torch_part {
  torch_part() = delete;

  [[nodiscard]] static torch_part& of(torch::optim::Optimizer& optimizer) {
    return reinterpret_cast<torch_part&>(optimizer);
  }
  [[nodiscard]] torch::optim::Optimizer& optimizer() const {
    return reinterpret_cast<torch::optim::Optimizer&>(const_cast<torch_part&>(*this));
  }
};

/// The type of the optimizer, which a checkpoint must have too.
struct torch_kind {};

/// The numbers of the parameters of each group, which a checkpoint must have too.
struct torch_group_params {};

/// The shapes of all parameters, which a checkpoint must have too.
struct torch_shapes {};

/// The numbers of the parameters that have a state. A load removes the states of others.
template <class State>
struct torch_state_numbers {};

/// The states of all parameters.
template <class State>
struct torch_states {
  torch::optim::Optimizer& optimizer;
};

/// The options of all groups.
template <class Options>
struct torch_groups {
  torch::optim::Optimizer& optimizer;
};

/// The parameters of all groups, numbered from 0 on.
[[nodiscard]] inline std::vector<at::Tensor> parameters_of(const torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

/// How libtorch names the state of a parameter.
[[nodiscard]] inline std::string state_key(const at::Tensor& parameter) {
  return c10::guts::to_string(parameter.unsafeGetTensorImpl());
}

}  // namespace detail

template <>
struct adapter<detail::torch_part<detail::torch_kind>> {
  using part = detail::torch_part<detail::torch_kind>;

  [[nodiscard]] static std::string get(const part& of) {
    std::string name;
    detail::with_type_of(of.optimizer(), [&](const auto& type) { name = type.name; });
    return name;
  }
  static void check(const part& of, const std::string& stored) {
    if (const auto own = get(of); stored != own)
      fail(errc::mismatch, {"is an optimizer ", stored, " in the checkpoint and ", own, " in the state"});
  }
  static void set(part& /*of*/, const std::string& /*stored*/) {}
};

template <>
struct adapter<detail::torch_part<detail::torch_group_params>> {
  using part = detail::torch_part<detail::torch_group_params>;
  using numbers = std::vector<std::vector<std::uint64_t>>;

  [[nodiscard]] static numbers get(const part& of) {
    numbers all;
    std::uint64_t next = 0;
    for (const auto& group : of.optimizer().param_groups()) {
      auto& own = all.emplace_back(group.params().size());
      for (auto& each : own) each = next++;
    }
    return all;
  }
  static void check(const part& of, const numbers& stored) {
    const auto sizes = [](const numbers& all) {
      std::string text;
      for (const auto& each : all) text += (text.empty() ? "" : " and ") + std::to_string(each.size());
      return text.empty() ? std::string("no") : text;
    };
    if (const auto own = get(of); stored != own)
      fail(errc::mismatch,
           {"has groups of ", sizes(stored), " parameters in the checkpoint, and of ", sizes(own), " in the state"});
  }
  static void set(part& /*of*/, const numbers& /*stored*/) {}
};

/// One array: the number of dimensions of each parameter, followed by its sizes.
template <>
struct adapter<detail::torch_part<detail::torch_shapes>> {
  using part = detail::torch_part<detail::torch_shapes>;

  [[nodiscard]] static std::vector<std::int64_t> get(const part& of) {
    std::vector<std::int64_t> all;
    for (const auto& each : detail::parameters_of(of.optimizer())) {
      all.push_back(each.dim());
      all.insert(all.end(), each.sizes().begin(), each.sizes().end());
    }
    return all;
  }
  static void check(const part& of, const std::vector<std::int64_t>& stored) {
    const auto own = get(of);
    if (stored == own) return;
    for (std::size_t number = 0, i = 0, k = 0; i < own.size() && k < stored.size(); ++number) {
      const auto there = shape_at(stored, k), here = shape_at(own, i);
      if (there != here)
        fail(errc::mismatch,
             {"has parameter ", number, " of shape ", there, " in the checkpoint and ", here, " in the state"});
    }
    fail(errc::mismatch, {"has another number of parameters in the checkpoint than in the state"});
  }
  static void set(part& /*of*/, const std::vector<std::int64_t>& /*stored*/) {}

 private:
  /// The shape at `at`, which moves to the next one.
  [[nodiscard]] static std::string shape_at(const std::vector<std::int64_t>& all, std::size_t& at) {
    const auto end = std::min(all.size(), at + 1 + static_cast<std::size_t>(std::max<std::int64_t>(all[at], 0)));
    std::string text;
    while (++at < end) text += (text.empty() ? "" : ", ") + std::to_string(all[at]);
    return '[' + text + ']';
  }
};

template <class Options>
struct adapter<detail::torch_groups<Options>> {
  template <class Field>
  static void fields(detail::torch_groups<Options>& all, const Field& field) {
    std::size_t number = 0;
    for (auto& group : all.optimizer.param_groups())
      field(std::to_string(number++), static_cast<Options&>(group.options()));
  }
};

template <class State>
struct adapter<detail::torch_part<detail::torch_state_numbers<State>>> {
  using part = detail::torch_part<detail::torch_state_numbers<State>>;

  [[nodiscard]] static std::vector<std::uint64_t> get(const part& of) {
    std::vector<std::uint64_t> found;
    const auto parameters = detail::parameters_of(of.optimizer());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (of.optimizer().state().count(detail::state_key(parameters[i])) != 0) found.push_back(i);
    return found;
  }

  static void check(const part& of, const std::vector<std::uint64_t>& stored) {
    const auto count = detail::parameters_of(of.optimizer()).size();
    for (const auto each : stored)
      if (each >= count)
        fail(errc::mismatch, {"names parameter ", each, " in the checkpoint; the optimizer has ", count});
  }

  static void set(part& of, const std::vector<std::uint64_t>& stored) {
    const auto parameters = detail::parameters_of(of.optimizer());
    auto& states = of.optimizer().state();
    std::vector<bool> is_stored(parameters.size());
    for (const auto each : stored) is_stored.at(each) = true;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (!is_stored[i]) states.erase(detail::state_key(parameters[i]));
  }
};

template <class State>
struct adapter<detail::torch_states<State>> {
  template <class Field>
  static void fields(detail::torch_states<State>& all, const Field& field) {
    const auto parameters = detail::parameters_of(all.optimizer);
    auto& states = all.optimizer.state();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto number = std::to_string(i);
      const auto key = detail::state_key(parameters[i]);
      const auto found = states.find(key);
      State* own = found == states.end() ? nullptr : &state_of(*found->second);
      if (field.purpose() == purpose::describe) {
        if (own != nullptr) field(number, *own);
        continue;
      }
      if (!field.stored(number)) continue;  // a load of the numbers removes it
      const detail::new_tensors_on device(parameters[i].device());
      if (field.purpose() == purpose::check) {
        auto trial = own != nullptr ? State(*own) : made_for(parameters[i]);
        detail::forget_tensors(trial);
        field.prototype(number, std::move(trial));
        continue;
      }
      if (own == nullptr) own = &state_of(*(states[key] = std::make_unique<State>(made_for(parameters[i]))));
      detail::forget_tensors(*own);
      field(number, *own);
    }
  }

 private:
  [[nodiscard]] static State& state_of(torch::optim::OptimizerParamState& state) {
    if (auto* const own = dynamic_cast<State*>(&state)) return *own;
    fail(errc::unsupported, {"an optimizer with states of another type; specialise cairn::adapter for it"});
  }
  [[nodiscard]] static State made_for(const at::Tensor& parameter) {
    State made;
    detail::make_tensors(made, parameter);
    return made;
  }
};

namespace detail {

template <class Options, class State>
void fields_with_states(torch::optim::Optimizer& optimizer, const adapter_field& field) {
  torch_groups<Options> groups{optimizer};
  field("param_groups", groups);
  field("state_numbers", torch_part<torch_state_numbers<State>>::of(optimizer));
  torch_states<State> states{optimizer};
  field("state", states);
}

void fields_of_optimizer(torch::optim::Optimizer& optimizer, const adapter_field& field) {
  with_type_of(optimizer, [&]<class Type>(const Type&) {
    field("kind", torch_part<torch_kind>::of(optimizer));
    field("params", torch_part<torch_group_params>::of(optimizer));
    field("shapes", torch_part<torch_shapes>::of(optimizer));
    fields_with_states<typename Type::options, typename Type::state>(optimizer, field);
  });
}

bool is_of_libtorch(const torch::optim::Optimizer& optimizer) {
  bool is_exact = false;
  with_type_of(optimizer,
               [&]<class Type>(const Type&) { is_exact = typeid(optimizer) == typeid(typename Type::optimizer); });
  return is_exact;
}

}  // namespace detail

}  // namespace cairn::inline v0_1
