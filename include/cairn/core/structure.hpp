// What a tensor list cannot say about a state: sizes of lists of objects, keys, what is null, what is shared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cairn {

/// One fact about the object at a path.
struct fact {
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

  friend bool operator==(const fact&, const fact&) = default;
};

/// Path -> fact, in path order.
using structure = std::map<std::string, fact, std::less<>>;

}  // namespace cairn
