// SPDX-License-Identifier: MIT
// Saves arrays by their names, for programs that do not have the C++ types of a state: bindings, converters, tools.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/inspect.hpp"
#include "cairn/report.hpp"
#include "cairn/save.hpp"

namespace cairn::inline v0_1 {

/// An array and its name, which is the path of a leaf: "model.weight".
struct named_array {
  std::string name;
  dtype type{};                         ///< of its elements
  extents shape;                        ///< empty: a scalar
  const void* memory = nullptr;         ///< the first element
  std::vector<std::int64_t> strides{};  ///< bytes between neighbours along each dimension; empty: row-major and packed
};

/// Saves arrays as the checkpoint `path`, as `save` does, in the order in which they are passed. A C++ state of which
/// each array is a member loads it. Errors: those of `save`; errc::invalid for two arrays of one name, and for a name
/// that is empty, `__metadata__` or not UTF-8.
save_report save_arrays(const std::string& path, std::span<const named_array> arrays, const save_options& options = {});

/// As above. A state that loads `like` loads this checkpoint, too: what a checkpoint stores besides arrays, such as map
/// keys and list sizes, is that of `like`. errc::mismatch unless both have arrays of the same names, types and shapes.
save_report save_arrays(const std::string& path, std::span<const named_array> arrays, const checkpoint& like,
                        const save_options& options = {});

}  // namespace cairn::inline v0_1
