// Passes the parts of an object of any type to the walker: one function per category.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/state/container_copies.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

/// Walks the T at `object`: a `walk_function`. It changes the object only as the walker's answers say.
template <class T>
void walk(walker& w, void* object);

/// The operations of a map whose values have paths of their own.
template <class T>
struct map_of;

template <class T>
inline constexpr bool always_false = false;

template <class T>
void destroy(void* object) {
  delete static_cast<T*>(object);
}

/// Walks a temporary T in place of an object that the load will make.
template <class T>
void walk_prototype(walker& w) {
  if constexpr (makeable<T>)
    w.prototype(new_object<T>(), walk<T>, destroy<T>);
  else
    w.reject(
        "has to be made by the load but its type has no default constructor; make it before the load, or give its "
        "adapter a function make()");
}

template <class T>
concept implicit_lifetime = std::is_trivially_destructible_v<T> &&
                            (std::is_aggregate_v<T> || std::is_trivially_default_constructible_v<T> ||
                             std::is_trivially_copy_constructible_v<T> || std::is_trivially_move_constructible_v<T>);

/// A T whose address stands for an element of an empty container. Its value is neither read nor written.
template <class T>
T& sample() {
  if constexpr (implicit_lifetime<T>) {
    alignas(T) static std::byte memory[sizeof(T)];  // an array of bytes creates the T in it: [intro.object]
    return *std::launder(reinterpret_cast<T*>(memory));
  } else {
    static_assert(std::is_default_constructible_v<T>,
                  "cairn: the elements of a container need a default constructor, or to be trivially copyable");
    static T object{};
    return object;
  }
}

}  // namespace cairn::detail

#include "cairn/state/walk_fixed.hpp"
#include "cairn/state/walk_sequence.hpp"
#include "cairn/state/walk_map.hpp"
#include "cairn/state/walk_pointer.hpp"
#include "cairn/state/walk_choice.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/adapter_field.hpp"
#include "cairn/state/walk_per_rank.hpp"

namespace cairn::detail {

template <class T>
struct copied_object {
  using copy = copy_type<T>;

  static void* take(const void* object) { return new copy(copy_traits<T>::take(*static_cast<const T*>(object))); }
  static void* make() { return new copy(); }
  static void put(void* object, void* stored) {
    copy_traits<T>::put(*static_cast<T*>(object), *static_cast<copy*>(stored));
  }
  static void check(const void* object, const void* stored) {
    if constexpr (has_checked_adapter<T, copy>)
      adapter<T>::check(*static_cast<const T*>(object), *static_cast<const copy*>(stored));
  }
  static void try_put(const void* object, void* stored) {
    const std::unique_ptr<T> trial(new_prototype(*static_cast<const T*>(object)));
    if (trial) put(trial.get(), stored);
  }

  static constexpr copy_operations operations{walk<copy>, take, make, destroy<copy>, put, check, try_put};
};

template <class T>
void walk(walker& w, void* at) {
  T& object = *static_cast<T*>(at);
  constexpr auto kind = category_of<T>();
  if constexpr (copied<T>)
    w.copy(at, copied_object<T>::operations);
  else if constexpr (kind == category::adapted)
    walk_adapted(w, object);
  else if constexpr (kind == category::per_rank)
    walk_per_rank(w, object);
  else if constexpr (kind == category::scalar)
    w.element(dtype_of<T>(), at);
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
    w.map(at, map_of<T>::operations);
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
                  "shared_ptr, span or cairn::tensor_view");
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
