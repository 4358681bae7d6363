// The answers of a walker: what a walk does with the current object.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <typeinfo>

namespace cairn::detail {

/// Thrown out of a user's function that asked for a value that the load cannot give it.
struct load_stopped : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the checkpoint does not have the value"; }
};

/// What to do with an object that may be absent: the value of an optional, the object behind a pointer.
enum class presence {
  keep,      ///< nothing
  clear,     ///< make the holder empty
  walk,      ///< the object exists: walk it
  make,      ///< make a new object in the holder and walk that
  prototype  ///< the load will make the object later: walk a temporary one in its place
};

/// What to do with an object behind a pointer.
struct pointee_answer {
  presence what{};
  const std::type_info* type = nullptr;  ///< to walk, make, or use as prototype; null where there is no list of types
  bool destroys = false;                 ///< the load takes the object that is there away from the pointer
};

/// What to do with an object that several pointers may share.
struct shared_answer {
  presence what{};
  const std::type_info* type = nullptr;  ///< as in `pointee_answer`, or the type of `same`
  std::shared_ptr<void> same{};          ///< not null: set the pointer to this object, which another path has loaded
  bool destroys = false;                 ///< as in `pointee_answer`
};

/// What to do with a variant.
struct alternative_answer {
  presence what{};
  std::uint64_t index = 0;  ///< of the alternative to walk, make, or use as prototype
};

/// The size that a container has from now on, or will have after the load.
struct size_answer {
  std::uint64_t size = 0;
  bool resize = false;  ///< resize it to `size` now
};

/// What to do with a copy after its walk.
enum class copy_answer {
  drop,   ///< nothing: the save owns it, or the checkpoint does not have all of it
  check,  ///< first walk of a load: test that the object can take the value, and change nothing
  put     ///< give the object the value of the copy: second walk of a load, or an object in another private copy
};

}  // namespace cairn::detail
