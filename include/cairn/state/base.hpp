// The contract of `state/`: from any C++ state to a flat list of leaves, and back into the same state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/convert.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/structure.hpp"
#include "cairn/state/rank_info.hpp"

namespace cairn {

/// A state as the stages behind see it. Laws: the same state gives the same description; no path comes twice;
/// a leaf's memory stays valid while the state lives and keeps its sizes, or, for copies, while the
/// description lives.
struct description {
  std::vector<leaf> leaves;  ///< in the order of the state's fields
  cairn::structure structure;
};

/// How a load brings a state and a checkpoint together.
struct match_options {
  /// Keys that only one side has are errors; else they are reported, and the state keeps what it holds there.
  bool strict = true;
  /// The path in the checkpoint of a path in the state. Not set: the same.
  std::function<std::string(std::string_view path)> rename;
  /// Which leaves of the state to load, by their path in the checkpoint. Not set: all.
  std::function<bool(std::string_view path)> filter;
  /// Which differences of dtype to bridge.
  conversion convert = conversion::none;
};

/// What a load did, by path: in the state for `missing` and `resized`, in the checkpoint for all else.
struct match_report {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;     ///< the state has it, the checkpoint does not
  std::vector<std::string> unexpected;  ///< the checkpoint has it, the state does not
  std::vector<std::string> converted;   ///< loaded from another dtype
  std::vector<std::string> resized;     ///< containers that took the checkpoint's size
};

/// Where stored leaf `index` goes: `memory` of the state, of the same number of elements.
struct target {
  std::size_t index;
  memory_view destination;
};

/// Nesting deeper than this is refused, in a state as in a file: a linked list of nodes is better kept in a
/// vector.
inline constexpr unsigned max_nesting = 400;

}  // namespace cairn
