// The answers of the engine to a walk: what to do with the object at hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace cairn::detail {

/// What becomes of an object that may be absent: the value of an optional, what a pointer points to.
enum class presence {
  keep,      ///< nothing to do
  clear,     ///< the holder becomes empty
  walk,      ///< the object is there: walk it
  make,      ///< make a new object in the holder, then walk that
  prototype  ///< the load will make it: walk a temporary object in its place
};

struct pointee_answer {
  presence what{};
  std::string_view type;  ///< the object's, of the closed list of types
};

struct shared_answer {
  presence what{};
  std::string_view type;
  std::shared_ptr<void> same;  ///< not null: the pointer becomes one to this object
};

struct alternative_answer {
  presence what{};
  std::uint64_t index = 0;
};

/// The size that a container has from now on, or will have after the load.
struct size_answer {
  std::uint64_t size = 0;
  bool resize = false;  ///< give it that size now
};

/// What becomes of a copy after it was walked.
enum class copy_answer { drop, check, put };

}  // namespace cairn::detail
