// SPDX-License-Identifier: MIT
// Tables of functions: the operations of a type that the walker needs. The walker itself is free of templates over the
// state. Where a table has a null function pointer, the type does not have that operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/words.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
concept implicit_lifetime = std::is_trivially_destructible_v<T> &&
                            (std::is_aggregate_v<T> || std::is_trivially_default_constructible_v<T> ||
                             std::is_trivially_copy_constructible_v<T> || std::is_trivially_move_constructible_v<T>);

/// A T for the elements of an empty container: a walk uses its address. Only `resize_to` reads it; nothing writes it.
template <class T>
T& sample() {
  if constexpr (implicit_lifetime<T>) {
    alignas(T) static std::byte memory[sizeof(T)]{};  // an array of bytes creates the T in it: [intro.object]
    return *std::launder(reinterpret_cast<T*>(memory));
  } else {
    static_assert(default_made<T>,
                  "cairn: the elements of a container need a default constructor, or to be trivially copyable");
    static T object{};
    return object;
  }
}

template <class T>
void* sample_address() {
  return std::addressof(detail::sample<T>());
}

/// How `resize_to` changes the size of a sequence.
enum class resizing {
  inserts,   ///< the adapter of the elements makes them
  makes,     ///< the sequence makes its elements; lists and deques do not move those that they have
  replaces,  ///< a vector of elements that cannot be moved gets new ones, with the same allocator
  copies,    ///< trivial elements without a default constructor are copies of a sample
  shrinks,   ///< elements cannot be made
  none
};

template <class T>
consteval resizing resizing_of() {
  using element = typename T::value_type;
  constexpr bool makes = has_default<element>;
  constexpr bool moves_elements = requires(T& object) { object.capacity(); };
  if constexpr (has_make_adapter<element> && std::is_move_constructible_v<element> &&
                requires(T& object, element& each) {
                  object.erase(object.begin(), object.end());
                  object.insert(object.end(), std::move(each));
                })
    return resizing::inserts;
  else if constexpr (makes && (std::is_move_constructible_v<element> || !moves_elements))
    return resizing::makes;
  else if constexpr (makes && requires(T& object) { T(std::size_t{}, object.get_allocator()); })
    return resizing::replaces;
  else if constexpr (!makes && implicit_lifetime<element> && std::is_copy_constructible_v<element>)
    return resizing::copies;
  else if constexpr (requires(T& object) { object.pop_back(); })
    return resizing::shrinks;
  else
    return resizing::none;
}

/// errc::invalid: a sequence of that size goes over another number of elements, so that a save would lose some.
inline void check_iterated(std::uint64_t iterated, std::uint64_t size) {
  if (iterated != size)
    fail(errc::invalid, {"goes over ", iterated, " of its ", size,
                         " elements, so the others would be lost; specialise cairn::adapter for its type"});
}

/// The number of elements from `begin` to `end`. errc::invalid: it is not the size.
template <class T>
[[nodiscard]] std::uint64_t count_elements(const T& object) {
  const auto count = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
  if constexpr (requires { static_cast<std::uint64_t>(object.size()); })
    check_iterated(count, static_cast<std::uint64_t>(object.size()));
  return count;
}

/// The sizes that `resize_to` can give a container.
struct size_limits {
  std::uint64_t least = 0;
  std::uint64_t most = ~std::uint64_t{0};
  bool makes_elements = true;  ///< false: their type has no default constructor
};

/// The limits of a container that has `size` elements.
template <class T>
[[nodiscard]] size_limits limits_of(const T& object, std::uint64_t size) {
  using element = typename T::value_type;
  constexpr auto how = resizing_of<T>();
  if constexpr (how == resizing::none)
    return {size, size, makeable<element>};
  else if constexpr (how == resizing::shrinks)
    return {0, size, false};
  else if constexpr (requires { object.max_size(); })
    return {0, object.max_size(), true};
  else
    return {0, ~std::uint64_t{0}, true};
}

/// Precondition: `size` is within `limits_of(object, its size)`. O(size).
template <class T>
void resize_to(T& object, std::uint64_t size) {
  constexpr auto how = resizing_of<T>();
  const auto count = static_cast<std::size_t>(size);
  if constexpr (how == resizing::inserts) {
    const auto now = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
    if (size < now) object.erase(std::next(object.begin(), static_cast<std::ptrdiff_t>(size)), object.end());
    for (auto i = now; i < size; ++i) object.insert(object.end(), adapter<typename T::value_type>::make());
  } else if constexpr (how == resizing::makes) {
    object.resize(count);
  } else if constexpr (how == resizing::replaces) {
    T fresh(count, object.get_allocator());
    object.swap(fresh);
  } else if constexpr (how == resizing::copies) {
    object.resize(count, sample<typename T::value_type>());
  } else if constexpr (how == resizing::shrinks) {
    while (static_cast<std::uint64_t>(std::distance(object.begin(), object.end())) > size) object.pop_back();
  }
}

class walker;

/// Walks the object, whose type the function knows.
using walk_function = void (*)(walker&, void* object);

/// The walk function of a part whose type was not checked with that of the state: refuse.hpp.
template <class T, bool Loads = true>
consteval walk_function checked_part_walk();

/// A member of a class.
struct member_operations {
  std::string_view name;  ///< in a checkpoint
  walk_function walk;     ///< null: the member is not state
};

struct object_members {
  void* const* addresses;
  std::span<const member_operations> all;
};

/// A type of which a load may make objects.
struct object_operations {
  walk_function walk;
  void* (*make)();  ///< a new object; null: there is no default constructor, and no function `make` of an adapter
  void (*destroy)(void* object);
};

/// The content of a holder: an optional, a variant, a pointer.
struct content_operations {
  object_operations object;
  bool has_entry;  ///< see walk_object.hpp
};

/// What an operation does with an object in a holder or a map.
enum class access : unsigned char { find, make, remove };

/// Finds, makes or removes the content of a holder. Returns its address after that; null if there is none. After
/// `make`, null means that its type has neither a default constructor nor a function `make` of an adapter.
using access_function = void* (*)(void* holder, access what);

struct optional_operations {
  access_function at;
  content_operations content;
};

/// An alternative of a variant.
struct alternative_operations {
  access_function at;  ///< finds or makes
  content_operations content;
};

struct variant_operations {
  std::size_t (*index)(const void* variant);
  std::span<const alternative_operations> alternatives;
};

/// A type of the objects to which a unique pointer may point.
struct unique_type {
  const type_id* type;
  content_operations content;
  void (*reset)(void* pointer, void* object);  ///< gives the pointer the object, or null
};

struct unique_operations {
  found_object (*found)(void* pointer);
  std::span<const unique_type> types;
  bool deletes;  ///< false: the pointer has a deleter of its own, and can only be reset to null
};

/// A type of the objects to which a shared pointer may point.
struct shared_type {
  const type_id* type;
  content_operations content;
  std::shared_ptr<void> (*make)();  ///< null: the load cannot make an object
  void (*set)(void* pointer, const std::shared_ptr<void>& object);
};

struct shared_operations {
  found_object (*found)(void* pointer, std::shared_ptr<void>& object);  ///< also shares the whole object
  std::span<const shared_type> types;
};

/// A sequence whose elements have paths of their own.
struct sequence_operations {
  object_operations element;
  std::size_t width;       ///< bytes per element
  bool elements_move;      ///< if the size changes
  bool elements_are_made;  ///< if the size changes, all elements are new objects or copies
  bool elements_are_empty;
  std::uint64_t (*size)(void* sequence, size_limits& limits);  ///< also gives its limits
  void (*resize)(void* sequence, std::uint64_t size);
  /// Calls `action` with each element, in order.
  void (*for_each)(void* sequence, void* context, void (*action)(void* context, void* element));
};

/// A container whose elements are a heap in the order of its comparator.
struct heap_operations {
  bool (*has_order)(const void* heap);  ///< false: the comparator is null
  void (*arrange)(void* heap);          ///< makes the elements a heap; changes nothing if they are one
};

/// A change of a class since older checkpoints, which concerns one name.
struct change {
  enum class kind : unsigned char { renamed, added, since, removed, resizable };
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
  void* (*sample)();  ///< stands for an element of an empty container; neither read nor written
  /// Resizes and returns the first element. Null if the container cannot be resized.
  void* (*resize)(void* container, std::uint64_t size);
  /// Empties the container, reserves memory, and returns the place of the first element. Returns null, and does
  /// nothing, if the capacity suffices already. Null if the container cannot reserve.
  void* (*reserve)(void* container, std::uint64_t size);
  enum class content : unsigned char {
    objects,
    numbers,
    text
  } holds;  ///< an array of numbers has the size that the program gives it
};

/// A map whose keys name the paths of the values.
struct map_operations {
  using action = void(void* context, std::string_view key, void* value);

  std::size_t value_width;  ///< bytes per value
  object_operations value;
  bool values_move;  ///< if others are inserted or removed
  std::uint64_t (*size)(const void* map);
  void (*for_each)(void* map, void* context, action* action);  ///< in the order of the keys
  /// errc::mismatch: two keys are equal for the map, or it cannot have as many, or has no comparator or hash function.
  void (*check_keys)(const void* map, const std::vector<std::string>& keys);
  bool (*is_key)(const std::string& key);
  /// Finds, makes or removes the value of a key. Returns its address after that; null if there is none.
  void* (*at)(void* map, const std::string& key, access what);
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
  /// Whether the map has these keys in this order, bit for bit; keys that only compare equal are not enough.
  /// errc::mismatch: it has no comparator or hash function.
  bool (*has_keys)(void* map, void* keys, std::uint64_t count);
  bool can_make;  ///< whether `set_keys` can make values
  /// Gives the map these keys and new values; returns the values in the order of `keys`. errc::mismatch: equal keys.
  std::vector<void*> (*set_keys)(void* map, const void* keys, std::uint64_t count);
  void* (*make_like)(const void* map);  ///< an empty map with the same comparator or hash function
  void (*destroy)(void* map);
};

/// An object that is saved as a copy of another type.
struct copy_operations {
  walk_function walk_copy;
  std::uint64_t (*bytes)(const void* object);  ///< that `take` allocates, about; null: few
  void* (*take)(const void* object);
  void* (*make)();  ///< an empty copy
  bool is_array;    ///< the copy is an array of numbers, so a load begins with those of the object
  bool is_owner;    ///< false: an adapter gets and sets it, so that it may be a proxy that is made for the moment
  void (*destroy)(void* copy);
  void (*put)(void* object, void* copy);  ///< may move from the copy
  /// Throws if the copy does not fit this object. Gives lines for match_report::replaced, which go on after the path.
  std::vector<std::string> (*check)(const void* object, const void* copy);
  /// Throws if `put` would throw, as far as can be known without a change of the object: it may try another one. May
  /// move from the copy.
  void (*try_put)(const void* object, void* copy);
  /// Calls `action` with the memory of the elements that `put` frees; if `copy` is null, of all elements. Null: the
  /// object has no elements that the program can refer to.
  void (*for_each_freed)(void* object, const void* copy, void* context,
                         void (*action)(void* context, const void* memory, std::size_t bytes));
};

}  // namespace cairn::inline v0_1::detail
