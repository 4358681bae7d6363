// SPDX-License-Identifier: MIT
// Views of strided arrays in the caller's memory, or in memory that the host cannot reach, such as a GPU's. Tensors of
// other libraries are saved through such views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"

namespace cairn::inline v0_1 {

/// `shape` elements at `data`. Element (i, j, ...) is at data[i * strides[0] + j * strides[1] + ...]; an empty
/// `strides` means row-major and packed. The memory is the caller's: a save reads from it and a load writes into it.
template <class T>
struct tensor_view {
  using value_type = T;

  tensor_view() = default;
  tensor_view(T* memory, extents dimensions, std::vector<std::int64_t> steps = {})
      : data_(memory), shape_(std::move(dimensions)), strides_(std::move(steps)) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  /// Elements along each dimension.
  [[nodiscard]] const extents& shape() const& noexcept { return shape_; }
  /// Of a temporary: moved out of it.
  [[nodiscard]] extents shape() && noexcept { return std::move(shape_); }
  /// Elements between neighbours along each dimension; empty: row-major and packed.
  [[nodiscard]] const std::vector<std::int64_t>& strides() const& noexcept { return strides_; }
  /// Of a temporary: moved out of it.
  [[nodiscard]] std::vector<std::int64_t> strides() && noexcept { return std::move(strides_); }

 private:
  T* data_ = nullptr;
  extents shape_;
  std::vector<std::int64_t> strides_;
};

template <class T>
inline constexpr bool is_container<tensor_view<T>> = true;

/// How many ranks hold the same box of an array, and which of these copies this one is, from 0 on. Each of them saves
/// its part of the box.
struct box_copies {
  unsigned count = 1;   ///< ranks with this box
  unsigned number = 0;  ///< which of them this one is
};

/// How to copy an array between the host and the memory where it is. Both functions return when the copy is complete,
/// and throw if it fails. `context` is passed to both; it may be a queue or a stream.
///
/// An array is known by address and context: arrays of devices that may have the same address need different contexts.
struct device_copies {
  /// From the device to the host.
  void (*to_host)(void* host, const void* device, std::size_t bytes, void* context) = nullptr;
  /// From the host to the device.
  void (*from_host)(void* device, const void* host, std::size_t bytes, void* context) = nullptr;
  void* context = nullptr;  ///< of the caller

  /// False for an array on the host, which is read and written in place.
  [[nodiscard]] explicit operator bool() const noexcept { return to_host || from_host; }
};

/// A view of an array whose element type is known at run time, and which may be in the memory of a device. A load into
/// another element type than the stored one follows `load_options::convert`.
///
/// A default-made view stands for an array that does not exist yet, such as a null handle: it is saved as an empty
/// array of U8. A load makes the array by `adapter<T>::resize`, with the stored shape and element type.
class any_tensor_view {
 public:
  any_tensor_view() = default;

  /// As tensor_view. Each element consists of `components` numbers of `type`: 2 for complex numbers, else 1.
  any_tensor_view(dtype type, void* memory, extents dimensions, std::vector<std::int64_t> steps = {},
                  const device_copies& device = {}, unsigned components = 1)
      : exists_(true),
        type_(type),
        components_(components),
        data_(memory),
        shape_(std::move(dimensions)),
        strides_(std::move(steps)),
        device_(device) {}

  /// The array is a box of a larger one, of shape `whole`; its first element has the index `first` there. See shard_of.
  any_tensor_view& within(extents whole, extents first, box_copies copies = {});

  /// False for a default-made view.
  [[nodiscard]] bool exists() const noexcept { return exists_; }
  /// Of the numbers.
  [[nodiscard]] dtype type() const noexcept { return type_; }
  /// Numbers in each element.
  [[nodiscard]] unsigned components() const noexcept { return components_; }
  [[nodiscard]] void* data() const noexcept { return data_; }
  /// Elements along each dimension.
  [[nodiscard]] const extents& shape() const noexcept { return shape_; }
  /// Elements between neighbours along each dimension; empty: row-major and packed.
  [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  /// How elements get to and from the memory of a device; unset for host memory.
  [[nodiscard]] const device_copies& device() const noexcept { return device_; }
  /// Null: the array is whole.
  [[nodiscard]] const std::shared_ptr<const detail::box_place>& place() const noexcept { return place_; }
  /// How many ranks hold this box.
  [[nodiscard]] box_copies copies() const noexcept { return copies_; }

 private:
  bool exists_ = false;
  dtype type_ = dtype::u8;
  unsigned components_ = 1;
  void* data_ = nullptr;
  extents shape_ = {0};
  std::vector<std::int64_t> strides_;
  device_copies device_;
  std::shared_ptr<const detail::box_place> place_{};
  box_copies copies_{};
};

/// The view itself can be a part of a state.
template <>
struct adapter<any_tensor_view> {
  static any_tensor_view view(const any_tensor_view& view) { return view; }
};

}  // namespace cairn::inline v0_1
