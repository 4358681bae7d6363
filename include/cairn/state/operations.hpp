// Tables of functions: the operations of a type that the walker needs. The walker itself is free of templates over the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::detail {

class walker;

/// Walks the object, whose type the function knows.
using walk_function = void (*)(walker&, void* object);

struct named_part {
  std::string_view name;
  void* object = nullptr;
  walk_function walk = nullptr;
};

/// A container whose elements have a fixed layout and are contiguous.
struct contiguous_operations {
  std::size_t width;  ///< bytes per element
  walk_function walk_element;
  void* sample;  ///< stands for an element of an empty container; neither read nor written
  /// Resizes and returns the first element. Null if the container cannot be resized.
  void* (*resize)(void* container, std::uint64_t size);
  /// Empties the container, reserves memory, and returns the place of the first element. Returns null, and does nothing, if
  /// the capacity suffices already. Null if the container cannot reserve.
  void* (*reserve)(void* container, std::uint64_t size);
};

/// A map whose values have their own paths.
struct map_operations {
  struct entry {
    std::string key;
    void* value;
  };
  walk_function walk_value;
  void (*walk_prototype)(walker&);
  std::vector<entry> (*entries)(void* map);  ///< in the order of the keys
  bool (*is_key)(const std::string& key);
  void* (*find)(void* map, const std::string& key);  ///< the value, or null
  void (*insert)(void* map, const std::string& key);
  void (*erase)(void* map, const std::string& key);
};

/// An object that is saved as a copy of another type.
struct copy_operations {
  walk_function walk_copy;
  void* (*take)(const void* object);
  void* (*make)();  ///< an empty copy
  void (*destroy)(void* copy);
  void (*put)(void* object, void* copy);  ///< may move from the copy
  /// Throws if the copy does not fit this object. Null: each copy fits.
  void (*check)(const void* object, const void* copy);
  /// Throws if `put` would throw, tried on another object. May move from the copy.
  void (*try_put)(const void* object, void* copy);
};

}  // namespace cairn::detail
