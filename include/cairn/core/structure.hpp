// What a tensor list cannot say about a state: sizes of lists of objects, keys, what is null, what is shared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cairn {

/// What is stored about the object at a path.
struct structure_entry {
  enum class kind : std::uint8_t {
    size,     ///< a sequence of `number` elements that are stored under their own paths
    keys,     ///< a map with the entries `keys`, each stored under `path.key`
    engaged,  ///< an optional or pointer: holds an object (`number` 1) or nothing (0)
    index,    ///< a variant that holds alternative `number`
    type,     ///< a polymorphic pointer to an object of the listed type `text`
    same,     ///< shared: is the object or array at path `text`
    ranks     ///< per-rank state: saved by `number` ranks, each under `path.rank<i>`
  };

  kind what{};
  std::uint64_t number = 0;
  std::string text{};
  std::vector<std::string> keys{};

  friend bool operator==(const structure_entry&, const structure_entry&) = default;
};

/// Path -> entry, in path order.
using structure = std::map<std::string, structure_entry, std::less<>>;

using fact = structure_entry;  // the older name, until the last use is renamed

}  // namespace cairn
