// SPDX-License-Identifier: MIT
// Walks classes whose members changed since older checkpoints: renamed, added, removed members, versions, migrations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "cairn/state/changed_fields.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/stored_parts.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1 {

template <class P>
P stored_parts::get(std::string_view name) {
  constexpr bool can_make = detail::default_made<P> && std::is_move_constructible_v<P>;
  static_assert(can_make,
                "cairn: stored_parts::get makes the value that it returns: use `load` into an object that exists");
  if constexpr (can_make) {
    P part{};
    load_as(name, part, detail::checked_part_walk<P>());
    return part;
  } else {
    throw detail::load_stopped();  // does not compile: see above
  }
}

template <class P>
void stored_parts::load(std::string_view name, P& part) {
  load_as(name, part, detail::checked_part_walk<P>());
}

template <class P>
void stored_parts::load_as(std::string_view name, P& part, void (*walk)(detail::walker&, void*)) {
  if (!is_column_) return read(name, std::addressof(part), walk, 0);
  if constexpr (detail::flat<P> && detail::default_made<P> && std::is_copy_assignable_v<P>) {
    void* rows = find_column(name, &detail::type_id_of<P>);
    if (!rows) {
      const std::shared_ptr<void> made(new P[static_cast<std::size_t>(rows_)](), [](P* all) { delete[] all; });
      rows = made.get();
      read(name, rows, walk, sizeof(P));
      add_column(name, &detail::type_id_of<P>, made);
    }
    part = static_cast<const P*>(rows)[row_];
  } else {
    fail_column(name);
  }
}

namespace detail {

template <class T>
void walk_members(walker& w, T& object);

template <class T>
struct version_of {
  static void walk_parts(walker& w, void* object) { detail::walk_members(w, *static_cast<T*>(object)); }
  static void migrate(void* object, stored_parts& old) {
    if constexpr (has_migration<T>) static_cast<T*>(object)->cairn_migrate(old);
  }
  static void* make(std::uint64_t count) {
    if constexpr (has_migration<T>)
      return new T[static_cast<std::size_t>(count)]();
    else
      return nullptr;
  }
  static void destroy(void* objects) { delete[] static_cast<T*>(objects); }

  static constexpr version_operations operations{
      T::cairn_version, sizeof(T), walk_parts, has_migration<T> ? migrate : nullptr, make, destroy};
};

/// Walks the members of a T.
template <class T>
void pass_members(walker& w, const object_members& members) {
  if constexpr (changed<T>)
    w.changed_members(members, change_rows<typename T::cairn_changes>::all);
  else
    w.members(members);
}

}  // namespace detail
}  // namespace cairn::inline v0_1
