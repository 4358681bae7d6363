// SPDX-License-Identifier: MIT
// The contract of `state/`: from any C++ state to a flat list of leaves, and back into the same state.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/config.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/convert.hpp"
#include "cairn/state/words.hpp"

namespace cairn::inline v0_1 {

namespace detail {
class walker;
}

class state;  // state.hpp
class const_state;

/// A reference to a state that is saved, and the walk function of its type.
struct any_state {
  const void* object = nullptr;
  void (*walk)(detail::walker&, void* object) = nullptr;
};

/// A reference to a state that a checkpoint can be loaded into, which is not const.
struct any_mutable_state : any_state {};

/// What a load did, as lists of paths: paths in the state for `missing` and `resized`, in the checkpoint for the
/// others. No path is twice in a list. An object that only one side has, such as one behind a pointer or a list of
/// objects, is there once, without its parts.
struct match_report {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;     ///< only the state has it
  std::vector<std::string> unexpected;  ///< only the checkpoint has it
  std::vector<std::string> converted;   ///< had another dtype
  /// Arrays, lists of objects, and maps of objects that were not empty and got another size. Containers that are saved
  /// as columns (deque, list, set, map of numbers) and texts are not listed.
  std::vector<std::string> resized;
  std::vector<std::string> reshaped;    ///< arrays of another shape: loaded where both have elements
  std::vector<std::string> replaced{};  ///< lines such as "data.batch: 20 in the program, 10 in the checkpoint" (loop)
};

namespace detail {

/// A state as all other stages see it. Laws: the same state gives the same description; no path occurs twice; the
/// memory of a leaf is valid while the state exists and keeps its sizes, that of a copy while the description does.
struct description {
  std::vector<leaf> leaves;  ///< in the order of the state's fields
  detail::structure structure;
};

/// How a load compares a state with a checkpoint: the members of load_options that have these names.
struct match_options {
  bool strict = true;
  std::function<std::string(std::string_view path)> rename;
  std::function<bool(std::string_view path)> filter;
  conversion convert = conversion::none;
  std::function<reshaping(std::string_view path)> reshape{};

  [[nodiscard]] reshaping reshape_of(std::string_view path) const { return reshape ? reshape(path) : reshaping::none; }
};

/// Deeper nesting is refused, in a state and in a file. Keep the nodes of a long linked list in a vector.
inline constexpr unsigned max_nesting = 400;

}  // namespace detail
}  // namespace cairn::inline v0_1
