// SPDX-License-Identifier: MIT
// What a stored checkpoint offers to a load: its leaves, its structure, and a function that reads the bytes of
// a leaf. The structure is what arrays cannot express about a state. And what it records besides these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/core/policy_memory.hpp"

namespace cairn::inline v0_1::detail {

/// What is stored about the object at a path.
struct structure_entry {
  enum class kind : std::uint8_t {
    size,     ///< a sequence of `number` objects, each stored under its own path
    keys,     ///< a map with `keys`; each value is stored under `path.key`
    engaged,  ///< an optional or pointer that holds an object (`number` 1) or none (0)
    index,    ///< a variant that holds alternative `number`
    type,     ///< a pointer to an object of type `text`, of a closed list of types
    same,     ///< shared: the object or array that is stored at path `text`
    ranks,    ///< per-rank state of `number` ranks, each stored under `path.rank<i>`
    version,  ///< at `path.@version`: the object at `path` is of version `number` of its class
    names,    ///< at `path.@names`: `keys` are numbers and names of the values of the enum at `path`, as "0 relu"
    rows      ///< a sequence or map of `number` objects, whose arrays are joined to one array for all objects
  };

  kind what{};
  std::uint64_t number = 0;
  std::string text{};
  std::vector<std::string> keys{};

  friend bool operator==(const structure_entry&, const structure_entry&) = default;
};

/// Path -> entry, in path order.
using structure = std::map<std::string, structure_entry, std::less<>>;

/// A whole leaf of a checkpoint, however it is cut into slices and spread over shards.
struct stored_leaf {
  std::string path;
  dtype type{};
  extents shape;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return element_count(shape) * size_of(type); }
};

/// The contents of one checkpoint, without its bytes.
struct catalog {
  std::string origin;               ///< the name of its source, for messages
  std::vector<stored_leaf> leaves;  ///< sorted by path; no path occurs twice
  detail::structure structure;
  /// Cairn wrote the checkpoint, so `structure` is complete, even if empty; false: a foreign safetensors file.
  bool has_structure = false;
  /// Reads all bytes of leaf `index`, row-major and verified, into `out` (of exactly its size). Throws cairn::error.
  std::function<void(std::size_t index, std::span<std::byte> out)> fetch;

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// The index of the leaf at `path`, or npos. O(log n).
  [[nodiscard]] std::size_t find(std::string_view path) const noexcept;
};

/// What a checkpoint records besides arrays and structure.
struct checkpoint_info {
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  policy_memory notes{};
  std::map<std::string, std::string> metadata{};  ///< of the user
};

}  // namespace cairn::inline v0_1::detail
