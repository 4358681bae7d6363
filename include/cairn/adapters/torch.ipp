// SPDX-License-Identifier: MIT
// Definitions of torch.hpp: tensors and modules, then optimizers, with the options and states that these have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <typeinfo>
#include <utility>

#include "cairn/adapters/torch.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// A type of libtorch's, and the numbers that an element of it consists of: two for complex ones.
struct torch_element {
  c10::ScalarType of;
  dtype type;
  unsigned components = 1;
};

/// Real ones first: a tensor that a load makes is of the first type that has such numbers.
inline constexpr torch_element torch_elements[] = {{c10::ScalarType::Bool, dtype::boolean},
                                                   {c10::ScalarType::Byte, dtype::u8},
                                                   {c10::ScalarType::Char, dtype::i8},
                                                   {c10::ScalarType::Short, dtype::i16},
                                                   {c10::ScalarType::Int, dtype::i32},
                                                   {c10::ScalarType::Long, dtype::i64},
                                                   {c10::ScalarType::Half, dtype::f16},
                                                   {c10::ScalarType::BFloat16, dtype::bf16},
                                                   {c10::ScalarType::Float, dtype::f32},
                                                   {c10::ScalarType::Double, dtype::f64},
                                                   {c10::ScalarType::ComplexHalf, dtype::f16, 2},
                                                   {c10::ScalarType::ComplexFloat, dtype::f32, 2},
                                                   {c10::ScalarType::ComplexDouble, dtype::f64, 2}};

/// errc::unsupported: a quantized type, or one that later versions of libtorch have.
[[nodiscard]] inline torch_element element_of(c10::ScalarType type) {
  for (const auto& each : torch_elements)
    if (each.of == type) return each;
  fail(errc::unsupported, {"a tensor of type ", c10::toString(type), "; save what dequantize() or to() returns"});
}

/// errc::mismatch: no tensor has such elements.
[[nodiscard]] inline c10::ScalarType scalar_type_of(dtype type) {
  for (const auto& each : torch_elements)
    if (each.type == type) return each.of;
  fail(errc::mismatch, {"is ", name(type), " in the checkpoint, which tensors of libtorch cannot have"});
}

/// What set_torch_copies has set, by the type of the devices.
[[nodiscard]] inline std::map<c10::DeviceType, device_copies>& own_copies() {
  static std::map<c10::DeviceType, device_copies> all;
  return all;
}

[[nodiscard]] inline at::Tensor bytes_at(const void* memory, std::size_t bytes, c10::Device device) {
  return at::from_blob(const_cast<void*>(memory), {static_cast<std::int64_t>(bytes)},
                       at::TensorOptions().dtype(c10::ScalarType::Byte).device(device));
}

/// The context of libtorch's own functions is the device itself: its type and index in a number.
[[nodiscard]] inline c10::Device device_of(const void* context) {
  const auto number = reinterpret_cast<std::uintptr_t>(context);
  return {static_cast<c10::DeviceType>(number >> 8U), static_cast<c10::DeviceIndex>(number & 0xFFU)};
}
inline void torch_to_host(void* host, const void* memory, std::size_t bytes, void* context) {
  bytes_at(host, bytes, c10::DeviceType::CPU).copy_(bytes_at(memory, bytes, device_of(context)));
}
inline void torch_from_host(void* memory, const void* host, std::size_t bytes, void* context) {
  bytes_at(memory, bytes, device_of(context)).copy_(bytes_at(host, bytes, c10::DeviceType::CPU));
}

[[nodiscard]] inline device_copies copies_of(c10::Device device) {
  if (device.is_cpu()) return {};
  if (const auto own = own_copies().find(device.type()); own != own_copies().end()) return own->second;
  const auto number = static_cast<std::uintptr_t>(device.type()) << 8U | static_cast<std::uint8_t>(device.index());
  return {.to_host = torch_to_host, .from_host = torch_from_host, .context = reinterpret_cast<void*>(number)};
}

/// Where a load makes undefined tensors: on the host; while this thread has an object of this class, on its device.
class new_tensors_on {
 public:
  explicit new_tensors_on(c10::Device device) : before_(std::exchange(current(), device)) {}
  new_tensors_on(const new_tensors_on&) = delete;
  new_tensors_on& operator=(const new_tensors_on&) = delete;
  ~new_tensors_on() { current() = before_; }

  [[nodiscard]] static c10::Device& current() {
    static thread_local c10::Device device(c10::DeviceType::CPU);
    return device;
  }

 private:
  c10::Device before_;
};

}  // namespace detail

any_tensor_view adapter<at::Tensor>::view(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (tensor.layout() != c10::kStrided)
    fail(errc::unsupported, {"a sparse tensor, or one of another layout; save what to_dense() returns"});
  if (tensor.is_meta()) fail(errc::unsupported, {"a tensor on the meta device, which has no values"});
  if (tensor.is_conj() || tensor.is_neg())
    fail(errc::unsupported,
         {"a tensor that is a conjugated or negated view; save what resolve_conj() or resolve_neg() returns"});
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1 && tensor.stride(d) == 0)
      fail(errc::unsupported, {"an expanded tensor, whose elements share memory; save what contiguous() returns"});
  const auto element = detail::element_of(tensor.scalar_type());
  extents shape(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<std::int64_t> strides;
  if (!tensor.is_contiguous()) strides.assign(tensor.strides().begin(), tensor.strides().end());
  const auto copies = detail::copies_of(tensor.device());
  return {element.type, tensor.data_ptr(), std::move(shape), std::move(strides), copies, element.components};
}

void adapter<at::Tensor>::resize(at::Tensor& tensor, const extents& shape, dtype type) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  if (tensor.defined())
    tensor.set_(at::empty(sizes, tensor.options()));
  else
    tensor = at::empty(
        sizes, at::TensorOptions().dtype(detail::scalar_type_of(type)).device(detail::new_tensors_on::current()));
}

void set_torch_copies(c10::DeviceType type, const device_copies& copies) {
  detail::own_copies().insert_or_assign(type, copies);
}

namespace detail {

void torch_module_fields(const torch::nn::Module& module, const adapter_field& field) {
  const auto tensors = [&](const auto& named) {
    for (const auto& each : named) {
      if (!each.value().defined()) continue;
      auto view = adapter<at::Tensor>::view(each.value());  // has no `resize`: another shape is an error
      field(each.key(), view);
    }
  };
  tensors(module.named_parameters(false));
  tensors(module.named_buffers(false));
  for (const auto& each : module.named_children()) field(each.key(), *each.value());
}

void fields_of(one_of_types<torch::optim::AdamOptions, torch::optim::AdamWOptions> auto& o, const auto& field) {
  field("lr", o.lr());
  field("betas", o.betas());
  field("eps", o.eps());
  field("weight_decay", o.weight_decay());
  field("amsgrad", o.amsgrad());
}
void fields_of(torch::optim::SGDOptions& o, const auto& field) {
  field("lr", o.lr());
  field("momentum", o.momentum());
  field("dampening", o.dampening());
  field("weight_decay", o.weight_decay());
  field("nesterov", o.nesterov());
}
void fields_of(torch::optim::RMSpropOptions& o, const auto& field) {
  field("lr", o.lr());
  field("alpha", o.alpha());
  field("eps", o.eps());
  field("weight_decay", o.weight_decay());
  field("momentum", o.momentum());
  field("centered", o.centered());
}
void fields_of(torch::optim::AdagradOptions& o, const auto& field) {
  field("lr", o.lr());
  field("lr_decay", o.lr_decay());
  field("weight_decay", o.weight_decay());
  field("initial_accumulator_value", o.initial_accumulator_value());
  field("eps", o.eps());
}
void fields_of(torch::optim::LBFGSOptions& o, const auto& field) {
  field("lr", o.lr());
  field("max_iter", o.max_iter());
  field("max_eval", o.max_eval());
  field("tolerance_grad", o.tolerance_grad());
  field("tolerance_change", o.tolerance_change());
  field("history_size", o.history_size());
  field("line_search_fn", o.line_search_fn());
}

void fields_of(one_of_types<torch::optim::AdamParamState, torch::optim::AdamWParamState> auto& s, const auto& field) {
  field("step", s.step());
  field("exp_avg", s.exp_avg());
  field("exp_avg_sq", s.exp_avg_sq());
  field("max_exp_avg_sq", s.max_exp_avg_sq());
}
void fields_of(torch::optim::SGDParamState& s, const auto& field) { field("momentum_buffer", s.momentum_buffer()); }
void fields_of(torch::optim::RMSpropParamState& s, const auto& field) {
  field("step", s.step());
  field("square_avg", s.square_avg());
  field("momentum_buffer", s.momentum_buffer());
  field("grad_avg", s.grad_avg());
}
void fields_of(torch::optim::AdagradParamState& s, const auto& field) {
  field("sum", s.sum());
  field("step", s.step());
}
/// Without `al`, which each step of LBFGS fills before it reads it, and makes where it is missing.
void fields_of(torch::optim::LBFGSParamState& s, const auto& field) {
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
struct optimizer_type {};

/// Calls `act` with the type of the optimizer, which may be of a derived class. errc::unsupported: none of these types.
void with_type_of(const torch::optim::Optimizer& optimizer, const auto& act) {
  using namespace torch::optim;
  const auto try_one = [&]<class Optimizer, class... Parts>(optimizer_type<Optimizer, Parts...> type) {
    const bool is_it = dynamic_cast<const Optimizer*>(&optimizer) != nullptr;
    if (is_it) act(type);
    return is_it;
  };
  if (!try_one(optimizer_type<Adam, AdamOptions, AdamParamState>()) &&
      !try_one(optimizer_type<AdamW, AdamWOptions, AdamWParamState>()) &&
      !try_one(optimizer_type<SGD, SGDOptions, SGDParamState>()) &&
      !try_one(optimizer_type<RMSprop, RMSpropOptions, RMSpropParamState>()) &&
      !try_one(optimizer_type<Adagrad, AdagradOptions, AdagradParamState>()) &&
      !try_one(optimizer_type<LBFGS, LBFGSOptions, LBFGSParamState>()))
    fail(errc::unsupported, {"an optimizer of a type that is not libtorch's; specialise cairn::adapter for it"});
}

/// A new state with all of its tensors, as libtorch makes them: with the type, device and strides of the parameter.
template <class State>
[[nodiscard]] State state_for(const at::Tensor& parameter) {
  State made;
  fields_of(made, [&]<class Part>(const char* /*name*/, Part& part) {
    if constexpr (std::same_as<Part, at::Tensor>) part = at::empty_like(parameter);
  });
  return made;
}

/// Removes the tensors that a state does not always have, or has in different types: a load makes them as stored.
template <class State>
void forget_tensors(State& s) {
  if constexpr (requires { s.max_exp_avg_sq(); }) s.max_exp_avg_sq(at::Tensor());  // Adam and AdamW
  if constexpr (std::same_as<State, torch::optim::RMSpropParamState>) {
    s.momentum_buffer(at::Tensor());
    s.grad_avg(at::Tensor());
  }
  if constexpr (std::same_as<State, torch::optim::LBFGSParamState>) {
    s.d(at::Tensor());
    s.H_diag(at::Tensor());
    s.prev_flat_grad(at::Tensor());
    s.al(c10::nullopt);  // has as many elements as the history can have
  }
}

}  // namespace detail

/// The options of a group of parameters, or the state of one parameter.
template <class Part>
requires std::derived_from<Part, torch::optim::OptimizerOptions> ||
         std::derived_from<Part, torch::optim::OptimizerParamState>
struct adapter<Part> {
  static void fields(Part& part, const auto& field) { detail::fields_of(part, field); }
};

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

// What the parts are. Those without an adapter of `fields` are copies.
struct torch_kind;
struct torch_group_params;
struct torch_shapes;
struct torch_state_numbers;
template <class Options>
struct torch_groups;
template <class State>
struct torch_states;

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

/// The name of the optimizer's class, as "Adam", which a checkpoint must have too.
template <>
struct adapter<detail::torch_part<detail::torch_kind>> {
  using part = detail::torch_part<detail::torch_kind>;

  [[nodiscard]] static std::string get(const part& of) {
    std::string name;
    const auto take = [&]<class Optimizer, class... Parts>(detail::optimizer_type<Optimizer, Parts...>) {
      name = detail::stored_class_name<Optimizer>();
    };
    detail::with_type_of(of.optimizer(), take);
    return name;
  }
  static void check(const part& of, const std::string& stored) {
    if (const auto own = get(of); stored != own)
      fail(errc::mismatch, {"is an optimizer ", stored, " in the checkpoint and ", own, " in the state"});
  }
  static void set(part& /*of*/, const std::string& /*stored*/) {}
};

/// The numbers of the parameters of each group, which a checkpoint must have too.
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

/// The shapes of all parameters, which a checkpoint must have too, as one array: the number of dimensions of each
/// parameter, followed by its sizes.
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
    extents shape;
    while (++at < end) shape.push_back(static_cast<std::uint64_t>(all[at]));
    return to_string(shape);
  }
};

/// The options of all groups.
template <class Options>
struct adapter<detail::torch_part<detail::torch_groups<Options>>> {
  static void fields(detail::torch_part<detail::torch_groups<Options>>& of, const auto& field) {
    std::size_t number = 0;
    for (auto& group : of.optimizer().param_groups())
      field(std::to_string(number++), static_cast<Options&>(group.options()));
  }
};

/// The numbers of the parameters that have a state. A load removes the states of others.
template <>
struct adapter<detail::torch_part<detail::torch_state_numbers>> {
  using part = detail::torch_part<detail::torch_state_numbers>;

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

/// The states of all parameters that have one.
template <class State>
struct adapter<detail::torch_part<detail::torch_states<State>>> {
  static void fields(detail::torch_part<detail::torch_states<State>>& of, const auto& field) {
    const auto parameters = detail::parameters_of(of.optimizer());
    auto& states = of.optimizer().state();
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
        auto trial = own != nullptr ? State(*own) : detail::state_for<State>(parameters[i]);
        detail::forget_tensors(trial);
        field.prototype(number, std::move(trial));
        continue;
      }
      if (own == nullptr)
        own = &state_of(*(states[key] = std::make_unique<State>(detail::state_for<State>(parameters[i]))));
      detail::forget_tensors(*own);
      field(number, *own);
    }
  }

 private:
  [[nodiscard]] static State& state_of(torch::optim::OptimizerParamState& state) {
    if (auto* const own = dynamic_cast<State*>(&state)) return *own;
    fail(errc::unsupported, {"an optimizer with states of another type; specialise cairn::adapter for it"});
  }
};

namespace detail {

void fields_of_optimizer(torch::optim::Optimizer& optimizer, const adapter_field& field) {
  with_type_of(optimizer, [&]<class Optimizer, class Options, class State>(optimizer_type<Optimizer, Options, State>) {
    field("kind", torch_part<torch_kind>::of(optimizer));
    field("params", torch_part<torch_group_params>::of(optimizer));
    field("shapes", torch_part<torch_shapes>::of(optimizer));
    field("param_groups", torch_part<torch_groups<Options>>::of(optimizer));
    field("state_numbers", torch_part<torch_state_numbers>::of(optimizer));
    field("state", torch_part<torch_states<State>>::of(optimizer));
  });
}

void fields_of_pointed_optimizer(torch::optim::Optimizer& optimizer, const adapter_field& field) {
  with_type_of(optimizer, [&]<class Optimizer, class... Parts>(optimizer_type<Optimizer, Parts...>) {
    if (typeid(optimizer) != typeid(Optimizer))
      fail(errc::unsupported,
           {"points to an optimizer of a class derived from one of libtorch's: use a pointer to that "
            "class, and specialise cairn::adapter for it"});
  });
  fields_of_optimizer(optimizer, field);
}

}  // namespace detail

}  // namespace cairn::inline v0_1
