// Passes the parts of an object of any type to the walker: one function per category.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/container_copies.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/has_entry.hpp"
#include "cairn/state/per_rank.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/resize.hpp"
#include "cairn/state/state.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

/// Walks the T at `object`: a `walk_function`. It changes the object only as the walker's answers say.
template <class T>
void walk(walker& w, void* object);

/// The operations of a class that has a version: walk_versioned.hpp.
template <class T>
struct version_of;

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

/// Walks the content of a holder that has an entry at its path: an optional, a variant, a pointer. The content has the same path; if it
/// has an entry, too, it is the part `value` of the holder.
template <class T>
void walk_held(walker& w, void* object) {
  if constexpr (has_entry<T>)
    w.content(object, walk<T>);
  else
    detail::walk<T>(w, object);
}

/// The same for a content that the load will make.
template <class T>
void walk_held_prototype(walker& w) {
  if constexpr (has_entry<T>)
    w.content_prototype(walk_prototype<T>);
  else
    detail::walk_prototype<T>(w);
}

// The walk functions of the categories, which the headers below define.
template <class T>
void walk_complex(walker& w, T& object);
template <class T>
void walk_duration(walker& w, T& object);
template <class T>
void walk_fixed_array(walker& w, T& object);
template <class T>
void walk_tuple(walker& w, T& object);
template <class T>
void walk_record(walker& w, T& object);
template <class T>
void walk_listed(walker& w, T& object);
template <class T>
void walk_valarray(walker& w, T& object);
template <class T>
void walk_sequence(walker& w, T& object);
template <class T>
void walk_span(walker& w, T& object);
template <class T>
void walk_container_adaptor(walker& w, T& object);
template <class T>
void walk_map(walker& w, T& object);
template <class T>
void walk_unique(walker& w, T& object);
template <class T>
void walk_shared(walker& w, T& object);
template <class T>
void walk_weak(walker& w, T& object);
template <class T>
void walk_optional(walker& w, T& object);
template <class T>
void walk_variant(walker& w, T& object);
template <class T>
void walk_tensor(walker& w, T& object);
template <class T>
void walk_adapted(walker& w, T& object);
template <class T, class Redistribute>
void walk_per_rank(walker& w, per_rank<T, Redistribute>& object);
template <class T>
void walk_parts_of(walker& w, std::span<const named_part> parts);
template <class Member>
void walk_field(walker& w, std::string_view name, Member& member);
template <class Member>
void walk_field_prototype(walker& w, std::string_view name, Member& temporary);

}  // namespace cairn::detail

#include "cairn/state/walk_fixed.hpp"
#include "cairn/state/walk_sequence.hpp"
#include "cairn/state/walk_map.hpp"
#include "cairn/state/walk_pointer.hpp"
#include "cairn/state/walk_choice.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/enum_table.hpp"
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
    [[maybe_unused]] const T& at = *static_cast<const T*>(object);
    [[maybe_unused]] const copy& value = *static_cast<const copy*>(stored);
    if constexpr (has_checked_adapter<T, copy>) adapter<T>::check(at, value);
    if constexpr (requires { copy_traits<T>::check(at, value); }) copy_traits<T>::check(at, value);
  }
  static void try_put(const void* object, void* stored) {
    const T& at = *static_cast<const T*>(object);
    copy& value = *static_cast<copy*>(stored);
    if constexpr (requires { copy_traits<T>::try_put(at, value); }) {
      copy_traits<T>::try_put(at, value);
    } else {
      const std::unique_ptr<T> trial(detail::new_prototype(at));
      if (trial) put(trial.get(), stored);
    }
  }

  static constexpr copy_operations operations{walk<copy>, take, make, destroy<copy>, put, check, try_put};
};

template <class T>
void walk(walker& w, void* at) {
  [[maybe_unused]] T& object = *static_cast<T*>(at);
  constexpr auto kind = category_of<T>();
  if constexpr (copied<T>)
    w.copy(at, copied_object<T>::operations);
  else if constexpr (kind == category::adapted)
    detail::walk_adapted(w, object);
  else if constexpr (kind == category::per_rank)
    detail::walk_per_rank(w, object);
  else if constexpr (kind == category::skipped)
    return;
  else if constexpr (kind == category::references)
    walk_references(w, static_cast<named_references*>(&object));
  else if constexpr (has_enum_names<T>)
    w.enumerated(dtype_of<T>(), at, enum_table<T>);
  else if constexpr (kind == category::scalar)
    w.element(dtype_of<T>(), at);
  else if constexpr (kind == category::complex)
    detail::walk_complex(w, object);
  else if constexpr (kind == category::duration)
    detail::walk_duration(w, object);
  else if constexpr (kind == category::fixed_array)
    detail::walk_fixed_array(w, object);
  else if constexpr (kind == category::tuple)
    detail::walk_tuple(w, object);
  else if constexpr ((kind == category::record || kind == category::listed) && has_version<T>)
    w.versioned(at, version_of<T>::operations);
  else if constexpr (kind == category::record)
    detail::walk_record(w, object);
  else if constexpr (kind == category::listed)
    detail::walk_listed(w, object);
  else if constexpr (kind == category::bridged)
    bridge<T>::walk(w, object);
  else if constexpr (kind == category::tensor)
    detail::walk_tensor(w, object);
  else if constexpr (kind == category::span)
    detail::walk_span(w, object);
  else if constexpr (kind == category::valarray)
    detail::walk_valarray(w, object);
  else if constexpr (kind == category::sequence)
    detail::walk_sequence(w, object);
  else if constexpr (kind == category::map)
    detail::walk_map(w, object);
  else if constexpr (kind == category::container_adaptor)
    detail::walk_container_adaptor(w, object);
  else if constexpr (kind == category::optional)
    detail::walk_optional(w, object);
  else if constexpr (kind == category::variant)
    detail::walk_variant(w, object);
  else if constexpr (kind == category::unique_pointer)
    detail::walk_unique(w, object);
  else if constexpr (kind == category::shared_pointer)
    detail::walk_shared(w, object);
  else if constexpr (kind == category::weak_pointer)
    detail::walk_weak(w, object);
  else
    static_assert(always_false<T>, "cairn: a type that cannot be saved");  // refuse.hpp says why
}

}  // namespace cairn::detail

#include "cairn/state/refuse.hpp"  // IWYU pragma: export
