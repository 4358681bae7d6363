// Walks types with a fixed number of parts: records, tuples, fixed arrays, complex numbers and durations.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/walk.hpp"

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

template <class T>
[[nodiscard]] named_part part_of(std::string_view name, T& member) noexcept {
  static_assert(!std::is_const_v<T>,
                "cairn: a const member cannot be loaded into: drop the const, or list the members to save in "
                "`static auto cairn_fields() { return cairn::fields<...>{}; }`");
  return {name, const_cast<std::remove_const_t<T>*>(std::addressof(member)), walk<std::remove_const_t<T>>};
}

template <class T>
void walk_record(walker& w, T& object) {
  with_fields(object, [&](auto&... members) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const named_part parts[] = {part_of(stored_field_name<T, I>.view(), members)..., {}};
      w.parts({parts, sizeof...(I)});
    }(std::index_sequence_for<decltype(members)...>{});
  });
}

template <class T>
void walk_listed(walker& w, T& object) {
  [&]<auto... Members>(fields<Members...>) {
    const named_part parts[] = {part_of(listed_name<Members>(), object.*Members)..., {}};
    w.parts({parts, sizeof...(Members)});
  }(T::cairn_fields());
}

/// Walks a part of the current object that an adapter names.
template <class Member>
void walk_field(walker& w, std::string_view name, Member& member) {
  const named_part part = part_of(name, member);
  w.part(part.name, part.object, part.walk);
}

template <class T>
void walk_tuple(walker& w, T& object) {
  if constexpr (requires {
                  object.first;
                  object.second;
                }) {
    const named_part parts[] = {part_of("first", object.first), part_of("second", object.second)};
    w.parts(parts);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::get;
      (w.part(I, std::addressof(get<I>(object)), walk<std::tuple_element_t<I, T>>), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

template <class T>
void walk_fixed_array(walker& w, T& object) {
  using element = std::remove_reference_t<decltype(object[0])>;
  if constexpr (flat<element>) {
    const std::size_t count = std::size(object);
    w.columns(count, sizeof(element), count > 0 ? &object[0] : &sample<element>(), walk<element>);
  } else {
    std::size_t i = 0;
    for (auto& each : object) w.part(i++, std::addressof(each), walk<element>);
  }
}

}  // namespace cairn::detail
