// Tables of functions: the operations of a type that the walker needs. The walker itself is free of templates over the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/state/changes.hpp"
#include "cairn/state/resize.hpp"

namespace cairn::detail {

class walker;

/// Walks the object, whose type the function knows.
using walk_function = void (*)(walker&, void* object);

struct named_part {
  std::string_view name;
  void* object = nullptr;
  walk_function walk = nullptr;
};

/// A change of a class since older checkpoints, which concerns one name.
struct change {
  enum class kind : unsigned char { renamed, added, since, removed };
  kind what{};
  std::string_view name;
  std::string_view former;  ///< of `renamed`
  unsigned version = 0;     ///< of `since`
};

/// A class that has a version.
struct version_operations {
  unsigned version;
  std::size_t width;         ///< bytes per object
  walk_function walk_parts;  ///< walks the members as they are now
  /// Sets what an older version does not have. Null if the class has no such function.
  void (*migrate)(void* object, stored_parts& old);
  void* (*make)(std::uint64_t count);  ///< an array of new objects, on which a load is tried
  void (*destroy)(void* objects);
};

/// A value of an enum that is known by name. A former name comes after the present one.
struct enum_entry {
  std::int64_t number;
  std::string_view name;
  bool is_former;
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
  size_limits limits;  ///< of `resize`
};

/// A map whose keys name the paths of the values.
struct map_operations {
  struct entry {
    std::string key;
    void* value;
  };
  std::size_t value_width;  ///< bytes per value
  walk_function walk_value;
  void (*walk_prototype)(walker&);
  std::vector<entry> (*entries)(void* map);  ///< in the order of the keys
  bool (*is_key)(const std::string& key);
  void* (*find)(void* map, const std::string& key);  ///< the value, or null
  void (*insert)(void* map, const std::string& key);
  void (*erase)(void* map, const std::string& key);
};

/// A map whose entries are saved as objects: entry i has the parts `i.first`, its key, and `i.second`, its value.
struct entries_operations {
  struct entry {
    void* key;  ///< not written
    void* value;
  };
  walk_function walk_key;
  walk_function walk_value;
  std::size_t value_width;                   ///< bytes per value
  std::vector<entry> (*entries)(void* map);  ///< in the order of the keys
  std::size_t key_width;                     ///< bytes per key
  void* (*make_keys)(std::uint64_t count);   ///< an array of keys
  void (*destroy_keys)(void* keys);
  /// Whether the map has exactly these keys in this order. errc::mismatch: it has no comparator or hash function.
  bool (*has_keys)(void* map, const void* keys, std::uint64_t count);
  bool can_make;  ///< whether `set_keys` can make values
  /// Gives the map these keys and new values; returns the values in the order of `keys`. errc::corrupt: a key occurs twice.
  std::vector<void*> (*set_keys)(void* map, const void* keys, std::uint64_t count);
  void* (*make_like)(const void* map);  ///< an empty map with the same comparator or hash function
  void (*destroy)(void* map);
};

/// An object that is saved as a copy of another type.
struct copy_operations {
  walk_function walk_copy;
  void* (*take)(const void* object);
  void* (*make)();  ///< an empty copy
  void (*destroy)(void* copy);
  void (*put)(void* object, void* copy);                ///< may move from the copy
  void (*check)(const void* object, const void* copy);  ///< throws if the copy does not fit this object
  /// Throws if `put` would throw, as far as can be known without a change of the object: it may try another one. May move from the copy.
  void (*try_put)(const void* object, void* copy);
};

}  // namespace cairn::detail
