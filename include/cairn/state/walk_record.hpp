// SPDX-License-Identifier: MIT
// Walks types with a fixed number of parts: records, tuples, fixed arrays, complex numbers and durations; and classes
// whose members have changed since older checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/parts.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/words.hpp"
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

/// The address of an object, which may be const: a load does not walk those.
template <class T>
[[nodiscard]] void* address_of(T& object) noexcept {
  return const_cast<std::remove_const_t<T>*>(std::addressof(object));
}

template <class Part>
consteval member_operations member_of(std::string_view name) {
  if constexpr (is_skip<Part>)
    return {{}, nullptr};
  else
    return {name, walk<std::remove_const_t<Part>>};
}

template <class T>
inline constexpr auto member_table =
    []<class... Parts, std::size_t... I>(type_list<Parts...>, std::index_sequence<I...>) {
      return std::array<member_operations, sizeof...(I)>{member_of<Parts>(parts_of<T>::names[I])...};
    }(typename parts_of<T>::types{}, std::make_index_sequence<parts_of<T>::count>{});

/// Walks a record or listed class. The fields of its base classes have the same paths as those of its own.
template <class T>
void walk_members(walker& w, T& object) {
  parts_of<T>::apply(object, [&](auto&... parts) {
    constexpr std::size_t base_count = parts_of<T>::base_count;
    void* const addresses[] = {detail::address_of(parts)..., nullptr};
    const std::span<const member_operations> all(member_table<T>);
    for (std::size_t i = 0; i < base_count; ++i)
      if (all[i].name.empty())
        all[i].walk(w, addresses[i]);
      else
        w.part(all[i].name, addresses[i], all[i].walk);
    detail::pass_members<T>(w, {addresses + base_count, {all.data() + base_count, all.size() - base_count}});
  });
}

/// Walks a part that the load will make, and that an adapter names. `temporary` is walked in its place.
template <class Member>
void walk_field_prototype(walker& w, std::string_view name, Member& temporary) {
  w.part(name, std::addressof(temporary),
         [](walker& inner, void* object) { inner.walk_temporary(object, checked_part_walk<Member>(), [](void*) {}); });
}

template <class T>
void walk_tuple(walker& w, T& object) {
  const auto walk_element = [&]<class Element>(const auto& name, Element& element) {
    w.part(name, detail::address_of(element), walk<std::remove_const_t<Element>>);
  };
  if constexpr (requires {
                  object.first;
                  object.second;
                }) {
    walk_element("first", object.first);
    walk_element("second", object.second);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (walk_element(std::uint64_t{I}, detail::get_element<I>(object)), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

template <class T>
void walk_fixed_array(walker& w, T& object) {
  using element = std::remove_const_t<std::remove_reference_t<decltype(object[0])>>;
  if constexpr (flat<element>) {
    const std::size_t count = std::size(object);
    w.columns(count, sizeof(element),
              count > 0 ? const_cast<element*>(std::addressof(object[0])) : sample_address<element>(), walk<element>);
  } else {
    if (!w.fixed_array(std::size(object))) return;
    std::size_t i = 0;
    for (auto& each : object) w.part(i++, const_cast<element*>(std::addressof(each)), walk<element>);
  }
}

}  // namespace detail
}  // namespace cairn::inline v0_1
