// SPDX-License-Identifier: MIT
// Finds arrays that share memory in the state and have different values in the checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/device_copies.hpp"
#include "cairn/state/fetched_leaves.hpp"

namespace cairn::inline v0_1::detail {

/// The arrays that a load fills. Those with gaps between their elements are compared with arrays of the same strides, type and size that begin
/// at the same address, packed ones with all packed arrays that overlap them.
class tied_arrays {
 public:
  /// Stored leaf `index` is loaded into all of `view`.
  void add(const memory_view& view, const device_copies* device, std::size_t index);

  /// The paths in the checkpoint of arrays that share memory and differ in it. Reads the values of arrays that share memory. O(n log n).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> find_conflicts(fetched_leaves& by,
                                                                                const catalog& from);

 private:
  struct array {
    const void* space;  // the memory that the addresses are in
    std::vector<std::int64_t> strides;
    std::uintptr_t begin, end;  // if there are strides, of the first element only
    std::uint64_t count;
    dtype type;
    std::size_t leaf;
  };

  [[nodiscard]] static std::vector<std::byte> values_of(fetched_leaves& by, const catalog& from, const array& of);

  std::vector<array> arrays_;
};

}  // namespace cairn::inline v0_1::detail
