// SPDX-License-Identifier: MIT
// Parts of a libtorch trainer's state: tensors, modules, optimizers, generators, samplers, learning rate schedulers.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/data/samplers.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/optim.h>
#include <torch/serialize/archive.h>
#include <torch/types.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

/// Uses `copies` for the tensors of all devices of this type, in place of libtorch's own functions. Call it before the
/// first save or load.
void set_torch_copies(c10::DeviceType type, const device_copies& copies);

/// A tensor with its type, shape and strides, saved and loaded in place, where it is. A complex one has a last
/// dimension of 2. A load gives another shape to tensors that need no gradients, and makes undefined ones, of
/// contiguous memory on the host. errc::mismatch, before anything is changed: another type, or another shape of a
/// parameter. errc::unsupported: sparse, quantized, expanded and conjugated tensors.
template <>
struct adapter<at::Tensor> {
  /// Of an undefined tensor: of an array that does not exist.
  [[nodiscard]] static any_tensor_view view(const at::Tensor& tensor);

  [[nodiscard]] static bool can_be(const at::Tensor& tensor, const extents& /*shape*/) {
    return !tensor.defined() || !(tensor.requires_grad() || tensor.is_inference());
  }

  /// Other handles to the tensor see its new shape too.
  static void resize(at::Tensor& tensor, const extents& shape, dtype type);
};

/// libtorch's optional is saved as std::optional, which it is in later versions.
template <class T>
inline constexpr bool is_container<c10::optional<T>> = true;

namespace detail {

template <class T, class... Types>
concept one_of_types = (std::same_as<T, Types> || ...);

/// A std::shared_ptr or std::unique_ptr to an object, not an array, of this class or of one derived from it.
template <class T, class Base>
concept torch_owner =
    std::derived_from<typename T::element_type, Base> &&
    one_of_types<T, std::shared_ptr<typename T::element_type>, std::unique_ptr<typename T::element_type>>;

template <class T>
concept torch_module = std::derived_from<T, torch::nn::Module> && !requires { T::cairn_fields(); };

template <class T>
concept torch_holder = std::is_base_of_v<torch::detail::ModuleHolderIndicator, T>;  // a private base

/// Passes the parameters, buffers and submodules of a module. Undefined ones are left out, as Python does.
void torch_module_fields(const torch::nn::Module& module, const adapter_field& field);

/// What a holder or a pointer leads to, by an adapter of its class.
template <class Module>
void torch_held_fields(Module* module, const auto& field) {
  if (module == nullptr) fail(errc::invalid, {"holds no module; make it before the state is saved or loaded"});
  if constexpr (requires { adapter<Module>::fields(*module, field); })
    adapter<Module>::fields(*module, field);
  else
    torch_module_fields(*module, field);
}

}  // namespace detail

/// A class derived from torch::nn::Module, without a line `cairn_fields`: what it has registered, and nothing else,
/// named as in Python's state_dict. Loaded in place, so that optimizers that refer to its parameters go on with them.
/// errc::mismatch, before anything is changed: other names, types or shapes.
template <detail::torch_module Module>
struct adapter<Module> {
  static void fields(Module& module, const auto& field) { detail::torch_module_fields(module, field); }
};

/// A holder, which TORCH_MODULE defines, is saved as the module that it holds. errc::invalid: it holds none.
template <detail::torch_holder Holder>
struct adapter<Holder> {
  static void fields(Holder& holder, const auto& field) {
    detail::torch_held_fields(holder.is_empty() ? nullptr : holder.ptr().get(), field);
  }
  [[nodiscard]] static Holder make() { return Holder(nullptr); }
};

/// A pointer to a module is saved as the module. A load never makes or replaces it.
template <detail::torch_owner<torch::nn::Module> Pointer>
requires detail::torch_module<typename Pointer::element_type>
struct adapter<Pointer> {
  static void fields(Pointer& module, const auto& field) { detail::torch_held_fields(module.get(), field); }
};

namespace detail {

/// The classes of libtorch, by which a part of a state can be declared.
template <class T>
concept torch_optimizer =
    one_of_types<T, torch::optim::Optimizer, torch::optim::Adam, torch::optim::AdamW, torch::optim::SGD,
                 torch::optim::RMSprop, torch::optim::Adagrad, torch::optim::LBFGS>;

/// Passes the parts of an optimizer. errc::unsupported: an optimizer of another library.
void fields_of_optimizer(torch::optim::Optimizer& optimizer, const adapter_field& field);

/// The same for one that a pointer to a class of libtorch leads to. errc::unsupported: also an object of a derived
/// class, which may have more state.
void fields_of_pointed_optimizer(torch::optim::Optimizer& optimizer, const adapter_field& field);

}  // namespace detail

/// Adam, AdamW, SGD, RMSprop, Adagrad and LBFGS, under the names of Python's state_dict where it has them. Paths:
/// `kind`; `param_groups.<i>.lr` and the other options of group i; `params.<i>` are the numbers of its parameters, over
/// all groups, and `shapes` their shapes; `state.<n>.exp_avg` and the like, of parameter n; `state_numbers` are the
/// parameters that have a state. A load makes the states that an optimizer makes in its first step. errc::mismatch,
/// before anything is changed: an optimizer of another type, or with other groups. errc::unsupported: an optimizer of
/// another library. For a class derived from one of these, write an adapter that passes the base class and what the
/// class adds: `field("base", static_cast<torch::optim::Adam&>(optimizer))`.
template <detail::torch_optimizer Optimizer>
struct adapter<Optimizer> {
  static void fields(Optimizer& optimizer, const auto& field) { detail::fields_of_optimizer(optimizer, field); }
};

/// A pointer to an optimizer is saved as the optimizer. A load never makes or replaces it. errc::invalid: null.
/// errc::unsupported: a pointer to a class of libtorch, and the object is of a derived class.
template <detail::torch_owner<torch::optim::Optimizer> Pointer>
struct adapter<Pointer> {
  static void fields(Pointer& optimizer, const auto& field) {
    using type = typename Pointer::element_type;
    if (!optimizer) fail(errc::invalid, {"points to no optimizer; make it before the state is saved or loaded"});
    if constexpr (detail::torch_optimizer<type>)
      detail::fields_of_pointed_optimizer(*optimizer, field);
    else
      adapter<type>::fields(*optimizer, field);
  }
};

/// A generator of random numbers, saved as the bytes of its `get_state`. A load sets them in the generator that the
/// handle refers to: `at::Generator rng = at::detail::getDefaultCPUGenerator();` is libtorch's own. errc::invalid: a
/// null handle. errc::mismatch, before anything is changed: bytes that are no state of such a generator.
template <>
struct adapter<at::Generator> {
  using bytes = std::vector<std::uint8_t>;

  [[nodiscard]] static bytes get(const at::Generator& generator) {
    const auto state = prototype(generator).get_state().contiguous();
    const auto* first = state.data_ptr<std::uint8_t>();
    return {first, first + state.numel()};
  }
  static void set(at::Generator& generator, const bytes& stored) {
    const auto state = at::empty({static_cast<std::int64_t>(stored.size())}, c10::ScalarType::Byte);
    if (!stored.empty()) std::memcpy(state.data_ptr<std::uint8_t>(), stored.data(), stored.size());
    const std::lock_guard lock(generator.mutex());
    try {
      generator.set_state(state);
    } catch (const c10::Error& cause) {
      fail(errc::mismatch, {"is no state of such a generator in the checkpoint: ", cause.what_without_backtrace()});
    }
  }
  [[nodiscard]] static at::Generator make() { return at::detail::createCPUGenerator(); }
  [[nodiscard]] static at::Generator prototype(const at::Generator& generator) {
    if (!generator.defined()) fail(errc::invalid, {"is a null generator; make it before the state is saved or loaded"});
    auto own = generator;
    const std::lock_guard lock(own.mutex());
    return own.clone();
  }
};

namespace detail {

/// libtorch's samplers. A class derived from one of them may have more state.
template <class T>
concept torch_sampler =
    one_of_types<T, torch::data::samplers::RandomSampler, torch::data::samplers::SequentialSampler,
                 torch::data::samplers::DistributedRandomSampler, torch::data::samplers::DistributedSequentialSampler,
                 torch::data::samplers::StreamSampler>;

/// What has been written to an archive of libtorch, to be read.
[[nodiscard]] inline torch::serialize::InputArchive reopened(torch::serialize::OutputArchive& written) {
  std::stringstream bytes;
  written.save_to(bytes);
  torch::serialize::InputArchive archive;
  archive.load_from(bytes);
  return archive;
}

/// A random sampler's order must have each sample once, and its position lie inside. libtorch checks neither.
inline void check_order(const at::Tensor& indices, std::int64_t position) {
  const auto sorted = std::get<0>(indices.to(c10::kLong).sort());
  if (!sorted.equal(at::arange(sorted.numel())) || position < 0 || position > sorted.numel())
    fail(errc::mismatch, {"is not an order of the sampler's samples in the checkpoint"});
}

/// The position of a sampler without an order of its own must be one that it can reach. O(samples).
template <torch_sampler Sampler>
void check_position(Sampler sampler, std::int64_t position) {
  constexpr std::size_t at_a_time = std::size_t{1} << 16U;
  sampler.reset();
  const auto first = static_cast<std::int64_t>(sampler.index());
  while (sampler.next(at_a_time)) {
  }
  const auto last = static_cast<std::int64_t>(sampler.index());
  if (position < first || position > last)
    fail(errc::mismatch,
         {"is at sample ", position, " in the checkpoint; the sampler has those from ", first, " to ", last});
}

}  // namespace detail

/// A sampler: the tensors that it writes to an archive of libtorch. errc::mismatch, before anything is changed: another
/// sampler, an order that is not one of the sampler's samples, or a position that it does not have.
template <detail::torch_sampler Sampler>
struct adapter<Sampler> {
  using tensors = std::map<std::string, at::Tensor>;

  [[nodiscard]] static tensors get(const Sampler& sampler) {
    torch::serialize::OutputArchive to;
    sampler.save(to);
    auto from = detail::reopened(to);
    tensors all;
    for (const auto& key : from.keys()) from.read(key, all[key], true);
    return all;
  }
  static void check(const Sampler& sampler, const tensors& stored) {
    const auto now = get(sampler);
    if (stored.size() != now.size()) fail(errc::mismatch, {"is another sampler in the checkpoint"});
    for (const auto& [name, tensor] : now) {
      const auto other = stored.find(name);
      if (other == stored.end() || !other->second.defined() || other->second.sizes() != tensor.sizes() ||
          other->second.scalar_type() != tensor.scalar_type())
        fail(errc::mismatch, {"has another number of samples in the checkpoint, or is another sampler there"});
    }
    if constexpr (requires { sampler.index(); }) {
      const at::Tensor& stored_position = stored.at(now.count("index") != 0 ? "index" : "sample_index_");
      const auto position = stored_position.item<std::int64_t>();
      if (now.count("indices") != 0)
        detail::check_order(stored.at("indices"), position);
      else
        detail::check_position(sampler, position);
    } else {  // it checks its position itself
      Sampler trial(sampler);
      set(trial, stored);
      try {
        static_cast<void>(trial.next(1));
      } catch (const c10::Error&) {
        fail(errc::mismatch, {"is at a position in the checkpoint that the sampler does not have"});
      }
    }
  }
  static void set(Sampler& sampler, const tensors& stored) {
    torch::serialize::OutputArchive to;
    for (const auto& [name, tensor] : stored) to.write(name, tensor, true);
    auto from = detail::reopened(to);
    sampler.load(from);
  }
};

namespace detail {

/// Gives access to the count, which derived classes have.
struct torch_scheduler_count : torch::optim::LRScheduler {
  static unsigned& of(torch::optim::LRScheduler& scheduler) { return scheduler.*(&torch_scheduler_count::step_count_); }
};

}  // namespace detail

/// The number of steps of a learning rate scheduler; the rates are in the optimizer. For a scheduler of your own, pass
/// the base class in an adapter: `field("base", static_cast<torch::optim::LRScheduler&>(scheduler))`.
template <class Scheduler>
requires detail::one_of_types<Scheduler, torch::optim::LRScheduler, torch::optim::StepLR>
struct adapter<Scheduler> {
  static void fields(Scheduler& scheduler, const auto& field) {
    field("step_count", detail::torch_scheduler_count::of(scheduler));
  }
};

namespace detail {
// The library cairn::torch has these walks: definitions/torch.cpp instantiates this list.
#define CAIRN_TORCH_WALKS(before)                                                                 \
  before template void walk<at::Tensor>(walker&, void*);                                          \
  before template void walk<at::Generator>(walker&, void*);                                       \
  before template void walk<std::map<std::string, at::Tensor>>(walker&, void*);                   \
  before template void walk<torch::data::samplers::RandomSampler>(walker&, void*);                \
  before template void walk<torch::data::samplers::SequentialSampler>(walker&, void*);            \
  before template void walk<torch::data::samplers::DistributedRandomSampler>(walker&, void*);     \
  before template void walk<torch::data::samplers::DistributedSequentialSampler>(walker&, void*); \
  before template void walk<torch::data::samplers::StreamSampler>(walker&, void*);
CAIRN_TORCH_WALKS(extern)
}  // namespace detail

}  // namespace cairn::inline v0_1
