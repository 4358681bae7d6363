// SPDX-License-Identifier: MIT
// Walks types with a fixed number of parts: records, tuples, fixed arrays, complex numbers and durations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/resize.hpp"
#include "cairn/state/skipped_fields.hpp"
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

template <class T, std::size_t I, class Member>
consteval member_operations member_of_record() {
  if constexpr (is_skipped_field<T, I, Member>())
    return {{}, nullptr};
  else
    return {stored_field_name<T, I>.view(), walk<std::remove_const_t<Member>>};
}

template <class T>
inline constexpr auto record_members =
    []<class... Types, std::size_t... I>(type_list<Types...>, std::index_sequence<I...>) {
      return std::array<member_operations, sizeof...(I)>{member_of_record<T, I, Types>()...};
    }(field_types<T>{}, std::make_index_sequence<arity<T>>{});

template <class T>
void walk_record(walker& w, T& object) {
  detail::with_fields(object, [&](auto&... members) {
    void* const addresses[] = {detail::address_of(members)..., nullptr};
    detail::pass_members<T>(w, {addresses, record_members<T>});
  });
}

/// Walks base class number `I` in the list. Its fields have the same paths as those of the derived class.
template <std::size_t I, class Base>
void walk_base(walker& w, Base& object) {
  constexpr auto kind = category_of<Base>();
  if constexpr (kind == category::record || kind == category::listed)
    detail::walk<Base>(w, std::addressof(object));
  else
    w.part(I == 0 ? "base" : "base" + std::to_string(I), std::addressof(object), walk<Base>);
}

template <class T>
void walk_listed(walker& w, T& object) {
  [&]<class... Bases, std::size_t... I>(bases<Bases...>, std::index_sequence<I...>) {
    (detail::walk_base<I>(w, static_cast<Bases&>(object)), ...);
  }(base_list<T>{}, std::make_index_sequence<base_count<T>>{});
  [&]<auto... Members>(fields<Members...>) {
    static constexpr std::array<member_operations, sizeof...(Members)> all{
        member_operations{listed_name<Members>(), walk<std::remove_const_t<type_of<Members>>>}...};
    void* const addresses[] = {detail::address_of(object.*Members)..., nullptr};
    detail::pass_members<T>(w, {addresses, all});
  }(own_fields<T>{});
}

template <class T>
void walk_members(walker& w, T& object) {
  if constexpr (category_of<T>() == category::record)
    detail::walk_record(w, object);
  else
    detail::walk_listed(w, object);
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
