// SPDX-License-Identifier: MIT
// Definitions of tensor.hpp and module.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "cairn/adapters/torch/module.hpp"
#include "cairn/adapters/torch/tensor.hpp"
#include "cairn/core/error.hpp"
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

/// Functions that copy from and to the devices of libtorch. One object per device, which lives as long as the program.
class torch_devices {
 public:
  [[nodiscard]] static torch_devices& all() {
    static torch_devices only;
    return only;
  }

  [[nodiscard]] device_copies copies_of(c10::Device device) {
    if (device.is_cpu()) return {};
    const std::lock_guard lock(mutex_);
    if (const auto own = own_.find(device.type()); own != own_.end()) return own->second;
    auto* const context = &devices_.try_emplace({device.type(), device.index()}, device).first->second;
    return {.to_host = to_host, .from_host = from_host, .context = context};
  }

  void set(c10::DeviceType type, const device_copies& copies) {
    const std::lock_guard lock(mutex_);
    own_.insert_or_assign(type, copies);
  }

 private:
  [[nodiscard]] static at::Tensor bytes_at(const void* memory, std::size_t bytes, c10::Device device) {
    return at::from_blob(const_cast<void*>(memory), {static_cast<std::int64_t>(bytes)},
                         at::TensorOptions().dtype(c10::ScalarType::Byte).device(device));
  }
  static void to_host(void* host, const void* memory, std::size_t bytes, void* context) {
    bytes_at(host, bytes, c10::Device(c10::DeviceType::CPU))
        .copy_(bytes_at(memory, bytes, *static_cast<const c10::Device*>(context)));
  }
  static void from_host(void* memory, const void* host, std::size_t bytes, void* context) {
    bytes_at(memory, bytes, *static_cast<const c10::Device*>(context))
        .copy_(bytes_at(host, bytes, c10::Device(c10::DeviceType::CPU)));
  }

  std::mutex mutex_;
  std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, c10::Device> devices_;
  std::map<c10::DeviceType, device_copies> own_;
};

[[nodiscard]] inline bool is_expanded(const at::Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) return true;
  return false;
}

any_tensor_view torch_view(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (tensor.layout() != c10::kStrided)
    fail(errc::unsupported, {"a sparse tensor, or one of another layout; save what to_dense() returns"});
  if (tensor.is_meta()) fail(errc::unsupported, {"a tensor on the meta device, which has no values"});
  if (tensor.is_conj() || tensor.is_neg())
    fail(errc::unsupported,
         {"a tensor that is a conjugated or negated view; save what resolve_conj() or resolve_neg() returns"});
  if (is_expanded(tensor))
    fail(errc::unsupported, {"an expanded tensor, whose elements share memory; save what contiguous() returns"});
  const auto element = element_of(tensor.scalar_type());
  extents shape(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<std::int64_t> strides;
  if (!tensor.is_contiguous()) strides.assign(tensor.strides().begin(), tensor.strides().end());
  return {element.type,
          tensor.data_ptr(),
          std::move(shape),
          std::move(strides),
          torch_devices::all().copies_of(tensor.device()),
          element.components};
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

void resize_torch(at::Tensor& tensor, const extents& shape, dtype type) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  if (tensor.defined())
    tensor.set_(at::empty(sizes, tensor.options()));
  else
    tensor = at::empty(sizes, at::TensorOptions().dtype(scalar_type_of(type)).device(new_tensors_on::current()));
}

}  // namespace detail

void set_torch_copies(c10::DeviceType type, const device_copies& copies) {
  detail::torch_devices::all().set(type, copies);
}

}  // namespace cairn::inline v0_1
