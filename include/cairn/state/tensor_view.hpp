// A view of a strided array in the caller's memory. Tensors of other libraries are saved through such views.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/core/leaf.hpp"

namespace cairn {

/// `shape` elements at `data`. Element (i, j, ...) is at data[i * strides[0] + j * strides[1] + ...]; an empty `strides`
/// means row-major and packed. The memory is the caller's: a save reads from it and a load writes into it.
template <class T>
struct tensor_view {
  using value_type = T;

  tensor_view() = default;
  tensor_view(T* memory, extents dimensions, std::vector<std::int64_t> steps = {})
      : data_(memory), shape_(std::move(dimensions)), strides_(std::move(steps)) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] const extents& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }

 private:
  T* data_ = nullptr;
  extents shape_;
  std::vector<std::int64_t> strides_;
};

}  // namespace cairn
