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

template <bool IsSkipped, class Member>
void append_part([[maybe_unused]] named_part*& end, [[maybe_unused]] std::string_view name,
                 [[maybe_unused]] Member& member) {
  if constexpr (!IsSkipped) *end++ = part_of(name, member);
}

template <class T>
void walk_record(walker& w, T& object) {
  if constexpr (has_skip_list<T>)
    static_assert(
        is_list_of_fields<T>(),
        "cairn: cairn_skip has a name that no member of this struct has, or has one twice: write each name as in "
        "the struct");
  with_fields(object, [&]<class... Members>(Members&... members) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (has_skip_list<T> || (is_skip<Members> || ...)) {
        named_part parts[sizeof...(I)];
        named_part* end = parts;
        (append_part<is_skipped_field<T, I, Members>()>(end, stored_field_name<T, I>.view(), members), ...);
        w.parts({parts, end});
      } else {
        const named_part parts[] = {part_of(stored_field_name<T, I>.view(), members)..., {}};
        w.parts({parts, sizeof...(I)});
      }
    }(std::index_sequence_for<Members...>{});
  });
}

template <class T>
void walk_listed(walker& w, T& object) {
  [&]<auto... Members>(fields<Members...>) {
    const named_part parts[] = {part_of(listed_name<Members>(), object.*Members)..., {}};
    w.parts({parts, sizeof...(Members)});
  }(T::cairn_fields());
}

template <class T>
void walk_adapted(walker& w, T& object) {
  if constexpr (has_view_adapter<T>)
    walk_tensor(w, object);
  else
    adapter<T>::fields(object, [&](std::string_view name, auto& member) {
      const named_part part = part_of(name, member);
      w.part(part.name, part.object, part.walk);
    });
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
      const named_part parts[] = {part_of({}, get<I>(object))..., {}};  // also those of std::tie
      (w.part(I, parts[I].object, parts[I].walk), ...);
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
