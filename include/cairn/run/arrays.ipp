// SPDX-License-Identifier: MIT
// Definitions of arrays.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/arrays.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/error.hpp"
#include "cairn/run/inspect.ipp"
#include "cairn/run/save.ipp"

namespace cairn::inline v0_1 {
namespace detail {

/// The arrays as leaves, with the structure of another checkpoint.
inline description describe_arrays(const std::string& path, std::span<const named_array> arrays, structure of_state) {
  description what{{}, std::move(of_state)};
  for (const auto& each : arrays) {
    if (each.name.empty() || each.name == "__metadata__")
      fail(errc::invalid, {path, ": an array cannot have the name \"", each.name, "\""});
    if (!each.strides.empty() && each.strides.size() != each.shape.size())
      fail(errc::invalid, {path, ": \"", each.name, "\" has ", each.shape.size(), " dimensions, and ",
                           each.strides.size(), " strides"});
    auto& made = what.leaves.emplace_back();
    made.path = each.name;
    made.type = each.type;
    made.shape = each.shape;
    made.strides = each.strides;
    made.memory = static_cast<std::byte*>(const_cast<void*>(each.memory));  // a save does not write to it
  }
  return what;
}

inline void require_same_arrays(const std::string& path, std::span<const named_array> arrays, const checkpoint& like) {
  std::vector<std::string_view> names;
  for (const auto& each : arrays) {
    names.push_back(each.name);
    if (!like.contains(each.name)) fail(errc::mismatch, {path, ": \"", each.name, "\" is not in ", like.path()});
    const auto other = like.tensor(each.name);
    if (each.type != other.type || each.shape != other.shape)
      fail(errc::mismatch, {path, ": \"", each.name, "\" is ", name(each.type), ' ', to_string(each.shape), ", and in ",
                            like.path(), " ", name(other.type), ' ', to_string(other.shape)});
  }
  std::sort(names.begin(), names.end());
  for (const auto& each : like.tensors())
    if (!std::binary_search(names.begin(), names.end(), each.name))
      fail(errc::mismatch, {path, ": \"", each.name, "\" is missing, which ", like.path(), " has"});
}

}  // namespace detail

save_report save_arrays(const std::string& path, std::span<const named_array> arrays, const save_options& options) {
  return detail::save_described(path, options, [&] { return detail::describe_arrays(path, arrays, {}); });
}

save_report save_arrays(const std::string& path, std::span<const named_array> arrays, const checkpoint& like,
                        const save_options& options) {
  return detail::save_described(path, options, [&] {
    detail::require_same_arrays(path, arrays, like);
    return detail::describe_arrays(path, arrays, like.reader().contents().structure);
  });
}

}  // namespace cairn::inline v0_1
