// What a walk needs of a type, as functions without templates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::detail {

class walker;

/// Walks an object of the type that the function is made for.
using walk_function = void (*)(walker&, void* object);

struct named_part {
  std::string_view name;
  void* object = nullptr;
  walk_function walk = nullptr;
};

/// A container whose elements lie side by side, with a fixed layout each.
struct contiguous_operations {
  std::size_t width;  ///< bytes per element
  walk_function walk_element;
  void* sample;  ///< an element to take addresses in where there is none; not read or written
  /// Resizes; null where the container cannot. Returns the first element.
  void* (*resize)(void* container, std::uint64_t size);
  /// Empties the container and reserves memory; null where the container cannot. Returns the first element, or null,
  /// having done nothing, when there is room already.
  void* (*reserve)(void* container, std::uint64_t size);
};

/// A map whose values have paths of their own.
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
  /// Throws where the copy does not fit this very object; null: any fits.
  void (*check)(const void* object, const void* copy);
  /// Throws where `put` would, whatever the object; null: not known. May move from the copy.
  void (*try_put)(void* copy);
};

}  // namespace cairn::detail
