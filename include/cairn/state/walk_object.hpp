// SPDX-License-Identifier: MIT
// Declares the walk functions of all types, tells which types have an entry in the structure, and has the tables of
// operations that the walker needs to make objects of a type.
#pragma once

#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/operations.hpp"

namespace cairn::inline v0_1::detail {

/// Walks the T at `object`: a `walk_function`. Changes it only as the walker's answers say. Defined in walk.hpp. A type
/// for which a program has an adapter is of another `Kind`, and so none that the library has compiled.
template <class T, category Kind = category_of<T>()>
void walk(walker& w, void* object);

template <class T>
consteval bool adds_entry() {
  if constexpr (copied<T>) {
    return adds_entry<copy_type<T>>();
  } else {
    constexpr auto kind = category_of<T>();
    if constexpr (kind == category::sequence)
      return !column_sequence<T>;
    else if constexpr (kind == category::container_adaptor)
      return adds_entry<typename T::container_type>();
    else
      return kind == category::map || kind == category::per_rank || kind == category::optional ||
             kind == category::variant || kind == category::unique_pointer || kind == category::shared_pointer ||
             kind == category::weak_pointer;
  }
}

/// True if `walk<T>` adds an entry (size, keys, engaged, index, type, same or ranks) at the path of the object itself.
/// A path has at most one entry, so a holder that has one walks such a content as a part: `walker::content`.
template <class T>
inline constexpr bool has_entry = adds_entry<T>();

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

}  // namespace cairn::inline v0_1::detail
