// Walks types with a fixed number of parts: records, tuples, fixed arrays, complex numbers and durations.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/walk.hpp"
#include "cairn/state/walk_versioned.hpp"

namespace cairn::detail {

template <class T>
void walk_complex(walker& w, T& object) {
  w.array(dtype_of<typename T::value_type>(), 2, &object, {});  // [complex.numbers]: an array of two, real part first
}

template <class T>
void walk_duration(walker& w, T& object) {
  if constexpr (time_point_type<T>)
    w.element(dtype_of<typename T::duration::rep>(), &object);
  else
    w.element(dtype_of<typename T::rep>(), &object);
}

/// The walk function of a part whose type was not checked with that of the state: refuse.hpp.
template <class T>
consteval walk_function checked_part_walk();

/// A part that an adapter passes. Its type is checked here, since the type of the object does not show it.
template <class T>
[[nodiscard]] named_part part_of(std::string_view name, T& member) noexcept {
  return {name, std::addressof(member), checked_part_walk<T>()};
}

/// A part of a type that is checked. A load does not walk const ones.
template <class T>
[[nodiscard]] named_part checked_part(std::string_view name, T& member) noexcept {
  return {name, const_cast<std::remove_const_t<T>*>(std::addressof(member)), walk<std::remove_const_t<T>>};
}

template <bool IsSkipped, class Member>
void append_part([[maybe_unused]] named_part*& end, [[maybe_unused]] std::string_view name,
                 [[maybe_unused]] Member& member) {
  if constexpr (!IsSkipped) *end++ = detail::checked_part(name, member);
}

template <class T>
void walk_record(walker& w, T& object) {
  detail::with_fields(object, [&]<class... Members>(Members&... members) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (has_skip_list<T> || (is_skip<Members> || ...)) {
        named_part parts[sizeof...(I)];
        named_part* end = parts;
        (detail::append_part<is_skipped_field<T, I, Members>()>(end, stored_field_name<T, I>.view(), members), ...);
        detail::walk_parts_of<T>(w, {parts, end});
      } else {
        const named_part parts[] = {detail::checked_part(stored_field_name<T, I>.view(), members)..., {}};
        detail::walk_parts_of<T>(w, {parts, sizeof...(I)});
      }
    }(std::index_sequence_for<Members...>{});
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
    const named_part parts[] = {detail::checked_part(listed_name<Members>(), object.*Members)..., {}};
    detail::walk_parts_of<T>(w, {parts, sizeof...(Members)});
  }(own_fields<T>{});
}

template <class T>
void walk_members(walker& w, T& object) {
  if constexpr (category_of<T>() == category::record)
    detail::walk_record(w, object);
  else
    detail::walk_listed(w, object);
}

/// Walks a part of the current object that an adapter names.
template <class Member>
void walk_field(walker& w, std::string_view name, Member& member) {
  const named_part part = detail::part_of(name, member);
  w.part(part.name, part.object, part.walk);
}

/// The same for a part that the load will make. `temporary` is walked in its place.
template <class Member>
void walk_field_prototype(walker& w, std::string_view name, Member& temporary) {
  w.part(name, std::addressof(temporary),
         [](walker& inner, void* object) { inner.prototype(object, checked_part_walk<Member>(), [](void*) {}); });
}

/// `get<I>`: std::get, or that of the library to which the type belongs.
template <std::size_t I, class T>
auto& get_element(T& object) {
  if constexpr (requires { std::get<I>(object); }) {
    return std::get<I>(object);
  } else {
    using std::get;
    return get<I>(object);
  }
}

template <class T>
void walk_tuple(walker& w, T& object) {
  if constexpr (requires {
                  object.first;
                  object.second;
                }) {
    const named_part parts[] = {detail::checked_part("first", object.first),
                                detail::checked_part("second", object.second)};
    w.parts(parts);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto walk_element = [&](std::size_t i, const named_part& element) {
        w.part(i, element.object, element.walk);
      };
      (walk_element(I, detail::checked_part({}, detail::get_element<I>(object))), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

template <class T>
void walk_fixed_array(walker& w, T& object) {
  using element = std::remove_const_t<std::remove_reference_t<decltype(object[0])>>;
  if constexpr (flat<element>) {
    const std::size_t count = std::size(object);
    w.columns(count, sizeof(element), count > 0 ? const_cast<element*>(&object[0]) : &sample<element>(), walk<element>);
  } else {
    std::size_t i = 0;
    for (auto& each : object) w.part(i++, const_cast<element*>(std::addressof(each)), walk<element>);
  }
}

}  // namespace cairn::detail
