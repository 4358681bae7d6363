// SPDX-License-Identifier: MIT
// State parts that decide what libtorch draws next: generators of random numbers, samplers, learning rate schedulers.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/data/samplers.h>
#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/optim/schedulers/step_lr.h>
#include <torch/serialize/archive.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// libtorch's samplers. A class derived from one of them may have more state.
template <class T>
concept torch_sampler = std::same_as<T, torch::data::samplers::RandomSampler> ||
                        std::same_as<T, torch::data::samplers::SequentialSampler> ||
                        std::same_as<T, torch::data::samplers::DistributedRandomSampler> ||
                        std::same_as<T, torch::data::samplers::DistributedSequentialSampler> ||
                        std::same_as<T, torch::data::samplers::StreamSampler>;

/// What a sampler writes to an archive of libtorch, by name.
template <torch_sampler Sampler>
[[nodiscard]] std::map<std::string, at::Tensor> tensors_in_archive(const Sampler& sampler) {
  torch::serialize::OutputArchive to;
  sampler.save(to);
  std::stringstream bytes;
  to.save_to(bytes);
  torch::serialize::InputArchive from;
  from.load_from(bytes);
  std::map<std::string, at::Tensor> all;
  for (const auto& key : from.keys()) from.read(key, all[key], true);
  return all;
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

/// Gives access to the count, which derived classes have.
struct torch_scheduler_count : torch::optim::LRScheduler {
  static unsigned& of(torch::optim::LRScheduler& scheduler) { return scheduler.*(&torch_scheduler_count::step_count_); }
};

}  // namespace detail

/// A generator of random numbers, saved as the bytes of its `get_state`. A load sets them in the generator that the
/// handle refers to: `at::Generator rng = at::detail::getDefaultCPUGenerator();` is libtorch's own. errc::invalid: a
/// null handle. errc::mismatch, before anything is changed: bytes that are no state of such a generator.
template <>
struct adapter<at::Generator> {
  using bytes = std::vector<std::uint8_t>;

  [[nodiscard]] static bytes get(const at::Generator& generator) {
    require(generator);
    auto own = generator;
    const std::lock_guard lock(own.mutex());
    const auto state = own.get_state().contiguous();
    const auto* first = state.data_ptr<std::uint8_t>();
    return {first, first + state.numel()};
  }
  static void set(at::Generator& generator, const bytes& stored) {
    require(generator);
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
    require(generator);
    auto own = generator;
    const std::lock_guard lock(own.mutex());
    return own.clone();
  }

 private:
  static void require(const at::Generator& generator) {
    if (!generator.defined()) fail(errc::invalid, {"is a null generator; make it before the state is saved or loaded"});
  }
};

/// A sampler: the tensors that it writes to an archive of libtorch. errc::mismatch, before anything is changed: another
/// sampler, an order that is not one of the sampler's samples, or a position that it does not have.
template <detail::torch_sampler Sampler>
struct adapter<Sampler> {
  using tensors = std::map<std::string, at::Tensor>;

  [[nodiscard]] static tensors get(const Sampler& sampler) { return detail::tensors_in_archive(sampler); }
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
    } else {
      try_next(sampler, stored);
    }
  }
  static void set(Sampler& sampler, const tensors& stored) {
    torch::serialize::OutputArchive to;
    for (const auto& [name, tensor] : stored) to.write(name, tensor, true);
    std::stringstream bytes;
    to.save_to(bytes);
    torch::serialize::InputArchive from;
    from.load_from(bytes);
    sampler.load(from);
  }

 private:
  /// For a sampler that checks its position itself.
  static void try_next(Sampler trial, const tensors& stored) {
    set(trial, stored);
    try {
      static_cast<void>(trial.next(1));
    } catch (const c10::Error&) {
      fail(errc::mismatch, {"is at a position in the checkpoint that the sampler does not have"});
    }
  }
};

/// The number of steps of a learning rate scheduler; the rates are in the optimizer. For a scheduler of your own, pass
/// the base class in an adapter: `field("base", static_cast<torch::optim::LRScheduler&>(scheduler))`.
template <class Scheduler>
requires std::same_as<Scheduler, torch::optim::LRScheduler> || std::same_as<Scheduler, torch::optim::StepLR>
struct adapter<Scheduler> {
  template <class Field>
  static void fields(Scheduler& scheduler, const Field& field) {
    field("step_count", detail::torch_scheduler_count::of(scheduler));
  }
};

namespace detail {
extern template void walk<at::Tensor>(walker&, void*);
extern template void walk<at::Generator>(walker&, void*);
extern template void walk<std::map<std::string, at::Tensor>>(walker&, void*);
extern template void walk<torch::data::samplers::RandomSampler>(walker&, void*);
extern template void walk<torch::data::samplers::SequentialSampler>(walker&, void*);
extern template void walk<torch::data::samplers::DistributedRandomSampler>(walker&, void*);
extern template void walk<torch::data::samplers::DistributedSequentialSampler>(walker&, void*);
extern template void walk<torch::data::samplers::StreamSampler>(walker&, void*);
}  // namespace detail

}  // namespace cairn::inline v0_1
