// Declares the walk functions of all types, and has the tables of operations that the walker needs to make objects of a type.
#pragma once

#include "cairn/state/adapter.hpp"
#include "cairn/state/has_entry.hpp"
#include "cairn/state/operations.hpp"

namespace cairn::detail {

/// Walks the T at `object`: a `walk_function`. It changes the object only as the walker's answers say. walk.hpp has the definition.
template <class T>
void walk(walker& w, void* object);

/// The walk function of a part whose type was not checked with that of the state: refuse.hpp.
template <class T>
consteval walk_function checked_part_walk();

template <class T>
void* make_object() {
  return new_object<T>();
}

template <class T>
void destroy(void* object) {
  delete static_cast<T*>(object);
}

template <class T>
consteval object_operations find_object_operations() {
  if constexpr (makeable<T>)
    return {walk<T>, make_object<T>, destroy<T>};
  else
    return {walk<T>, nullptr, nullptr};
}

template <class T>
inline constexpr object_operations object_operations_of = find_object_operations<T>();

template <class T>
inline constexpr content_operations content_operations_of{object_operations_of<T>, has_entry<T>};

}  // namespace cairn::detail
