// SPDX-License-Identifier: MIT
// Walks types with a fixed number of parts: records, tuples, fixed arrays, complex numbers and durations.
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
#include "cairn/state/flat.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/parts.hpp"
#include "cairn/state/resize.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walk_versioned.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
void walk_complex(walker& w, T& object) {
  w.array(dtype_of<typename T::value_type>(), 2, &object, {});  // [complex.numbers]: an array of two, real part first
}

template <class T>
void walk_duration(walker& w, T& object) {
  w.element(dtype_of<typename T::rep>(), &object);
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
    detail::pass_members<T>(w, {addresses + base_count, all.subspan(base_count)});
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

}  // namespace cairn::inline v0_1::detail
