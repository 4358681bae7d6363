// Walks what has a fixed number of parts: records, tuples, fixed arrays, and the numbers made of numbers.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class T>
void walk_complex(walker& w, T& object) {
  using number = typename T::value_type;
  // [complex.numbers]: an array of two, real part first.
  w.array(dtype_of<number>(), &object, {2}, {});
}

template <class T>
void walk_duration(walker& w, T& object) {
  if constexpr (time_point_type<T>)
    w.element(dtype_of<typename T::duration::rep>(), &object);
  else
    w.element(dtype_of<typename T::rep>(), &object);
}

template <class T>
void walk_record(walker& w, T& object) {
  auto members = tie(object);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_assert((!std::is_const_v<field_type<T, I>> && ...),
                  "cairn: a const member can be saved but not loaded: drop the const, or list the members to save in "
                  "`static auto cairn_fields() { return cairn::fields<...>{}; }`");
    (walk_part(w, stored_field_name<T, I>.view(), boost::pfr::detail::sequence_tuple::get<I>(members)), ...);
  }(std::make_index_sequence<arity<T>>{});
}

template <class T>
void walk_listed(walker& w, T& object) {
  T::cairn_fields().for_each(object, [&](std::string_view name, auto& member) { walk_part(w, name, member); });
}

template <class T>
void walk_adapted(walker& w, T& object) {
  if constexpr (has_view_adapter<T>)
    walk_tensor(w, object);
  else
    adapter<T>::fields(object, [&](std::string_view name, auto& member) { walk_part(w, name, member); });
}

template <class T>
void walk_tuple(walker& w, T& object) {
  if constexpr (requires {
                  object.first;
                  object.second;
                }) {
    walk_part(w, "first", object.first);
    walk_part(w, "second", object.second);
  } else {
    using std::get;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (walk_part(w, I, get<I>(object)), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

template <class T>
void walk_fixed_array(walker& w, T& object) {
  using element = std::remove_reference_t<decltype(object[0])>;
  if constexpr (flat<element>) {
    const std::size_t count = std::size(object);
    w.begin_batch(count, sizeof(element));
    walk(w, count > 0 ? object[0] : no_object<element>());
    w.end_batch();
  } else {
    std::size_t i = 0;
    for (auto& each : object) walk_part(w, i++, each);
  }
}

}  // namespace cairn::detail
