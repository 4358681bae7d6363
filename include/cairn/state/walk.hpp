// Takes an object of any type apart for the walker: one function per category.
#pragma once

#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/container_copies.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

/// Walks `object`. Describing changes nothing; checking changes nothing either; applying changes sizes,
/// pointees and everything that is saved as a copy, and leaves a list of arrays to read.
template <class T>
void walk(walker& w, T& object);

template <class T>
inline constexpr bool always_false = false;

/// Walks an object that stands for one that applying will make.
template <class T>
void walk_prototype(walker& w) {
  if constexpr (std::is_default_constructible_v<T>) {
    const auto object = std::make_unique<T>();
    ++w.match().prototypes;
    walk(w, *object);
    --w.match().prototypes;
  } else {
    w.refuse("has to be made by the load but its type has no default constructor; make it before the load");
  }
}

/// Walks the part `name` of the object at hand; a name is a text or an index.
template <class Name, class T>
void walk_part(walker& w, const Name& name, T& part) {
  w.enter(name);
  walk(w, part);
  w.leave();
}

/// Memory to take the address of fields in where a container is empty; never read or written.
template <class T>
T& no_object() {
  alignas(T) static std::byte memory[sizeof(T)];
  return *reinterpret_cast<T*>(memory);
}

}  // namespace cairn::detail

#include "cairn/state/walk_fixed.hpp"
#include "cairn/state/walk_sequence.hpp"
#include "cairn/state/walk_map.hpp"
#include "cairn/state/walk_pointer.hpp"
#include "cairn/state/walk_choice.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/walk_per_rank.hpp"

namespace cairn::detail {

/// A type that is saved as a copy.
template <class T>
void walk_copied(walker& w, T& object) {
  if (w.is_filtered()) return;
  std::shared_ptr<copy_type<T>> copy;
  if (w.is_describing()) {
    copy = std::make_shared<copy_type<T>>(copy_traits<T>::take(object));
  } else {
    copy = std::make_shared<copy_type<T>>();
  }
  w.begin_copy(copy);
  walk(w, *copy);
  const bool complete = w.end_copy();
  if (w.is_describing() || !complete) return;
  try {
    if constexpr (has_checked_adapter<T, copy_type<T>>) adapter<T>::check(std::as_const(object), std::as_const(*copy));
    if (w.is_writing()) {
      copy_traits<T>::put(object, *copy);
    } else if constexpr (std::is_default_constructible_v<T>) {
      const auto trial = std::make_unique<T>();  // what cannot be put into place fails before anything is changed
      copy_traits<T>::put(*trial, *copy);
    }
  } catch (const error& cause) {
    fail(cause.code(), {w.path(), " in ", w.match().from.origin, ": ", std::string_view(cause.what()).substr(7)});
  }
}

template <class T>
void walk(walker& w, T& object) {
  constexpr auto kind = category_of<T>();
  if constexpr (copied<T>)
    walk_copied(w, object);
  else if constexpr (kind == category::adapted)
    walk_adapted(w, object);
  else if constexpr (kind == category::per_rank)
    walk_per_rank(w, object);
  else if constexpr (kind == category::scalar)
    w.element(dtype_of<T>(), &object);
  else if constexpr (kind == category::complex)
    walk_complex(w, object);
  else if constexpr (kind == category::duration)
    walk_duration(w, object);
  else if constexpr (kind == category::fixed_array)
    walk_fixed_array(w, object);
  else if constexpr (kind == category::tuple)
    walk_tuple(w, object);
  else if constexpr (kind == category::record)
    walk_record(w, object);
  else if constexpr (kind == category::listed)
    walk_listed(w, object);
  else if constexpr (kind == category::tensor)
    walk_tensor(w, object);
  else if constexpr (kind == category::span)
    walk_span(w, object);
  else if constexpr (kind == category::valarray)
    walk_valarray(w, object);
  else if constexpr (kind == category::sequence)
    walk_sequence(w, object);
  else if constexpr (kind == category::map)
    walk_map(w, object);
  else if constexpr (kind == category::container_adaptor)
    walk_container_adaptor(w, object);
  else if constexpr (kind == category::optional)
    walk_optional(w, object);
  else if constexpr (kind == category::variant)
    walk_variant(w, object);
  else if constexpr ((kind == category::unique_pointer || kind == category::shared_pointer) && !requires { *object; })
    static_assert(always_false<T>, "cairn: a pointer to an array does not say how long it is: use std::vector");
  else if constexpr (kind == category::unique_pointer)
    walk_unique(w, object);
  else if constexpr (kind == category::shared_pointer)
    walk_shared(w, object);
  else if constexpr (kind == category::weak_pointer)
    walk_weak(w, object);
  else if constexpr (std::is_pointer_v<T>)
    static_assert(always_false<T>,
                  "cairn: a raw pointer does not say how much it points to, nor who owns it: use unique_ptr, "
                  "shared_ptr, "
                  "span or cairn::tensor_view");
  else if constexpr (piecewise_type<T>)
    static_assert(
        always_false<T>,
        "cairn: a piecewise distribution cannot be read back exactly: it draws nothing of its own, so save the "
        "intervals and weights that you make it from");
  else if constexpr (std::is_union_v<T>)
    static_assert(always_false<T>, "cairn: a union does not say which member is alive: use std::variant");
  else
    static_assert(always_false<T>,
                  "cairn: this type cannot be saved as it is: make it an aggregate, or give it a public line "
                  "`static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, or specialise "
                  "cairn::adapter<T>");
}

}  // namespace cairn::detail
