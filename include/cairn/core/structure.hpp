// SPDX-License-Identifier: MIT
// What a list of arrays cannot express about a state: sizes of lists of objects, keys, null pointers, shared objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

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
    names     ///< at `path.@names`: `keys` are numbers and names of the values of the enum at `path`, as "0 relu"
  };

  kind what{};
  std::uint64_t number = 0;
  std::string text{};
  std::vector<std::string> keys{};

  friend bool operator==(const structure_entry&, const structure_entry&) = default;
};

/// Path -> entry, in path order.
using structure = std::map<std::string, structure_entry, std::less<>>;

}  // namespace cairn::inline v0_1::detail
