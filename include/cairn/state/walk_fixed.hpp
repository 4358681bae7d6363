// Walks what has a fixed number of parts: records, tuples, fixed arrays, and the numbers made of numbers.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class T>
void walk_complex(walker& w, T& object) {
  using number = typename T::value_type;
  // [complex.numbers]: an array of two, real part first.
  w.batch(2, sizeof(number), [&] { w.element(dtype_of<number>(), &object); });
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
  for_each_field(object, [&](std::string_view name, auto& field) {
    static_assert(
        !std::is_const_v<std::remove_reference_t<decltype(field)>>,
        "cairn: a const member can be saved but not loaded: drop the const, or list the members to save in "
        "`using cairn_fields = cairn::fields<...>;`");
    w.child(name, [&] { walk(w, field); });
  });
}

template <class T>
void walk_listed(walker& w, T& object) {
  T::cairn_fields::for_each(
      object, [&](std::string_view name, auto& field) { w.child(name, [&] { walk(w, field); }); });
}

template <class T>
void walk_adapted(walker& w, T& object) {
  if constexpr (has_view_adapter<T>) {
    walk_tensor(w, object);
  } else {
    adapter<T>::fields(object,
                       [&](std::string_view name, auto& field) { w.child(name, [&] { walk(w, field); }); });
  }
}

template <class T>
void walk_tuple(walker& w, T& object) {
  using std::get;
  if constexpr (requires {
                  object.first;
                  object.second;
                }) {
    w.child("first", [&] { walk(w, object.first); });
    w.child("second", [&] { walk(w, object.second); });
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (w.child(std::to_string(I), [&] { walk(w, get<I>(object)); }), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

template <class T>
void walk_fixed_array(walker& w, T& object) {
  using element = std::remove_reference_t<decltype(object[0])>;
  constexpr std::size_t count = sizeof(T) / sizeof(element);
  if constexpr (flat<element>) {
    if constexpr (!is_std_array<T>)
      w.batch(count, sizeof(element), [&] { walk(w, object[0]); });
    else
      w.batch(object.size(), sizeof(element),
              [&] { walk(w, object.empty() ? no_object<element>() : object[0]); });
  } else {
    std::size_t i = 0;
    for (auto& each : object) w.child(std::to_string(i++), [&] { walk(w, each); });
  }
}

}  // namespace cairn::detail
