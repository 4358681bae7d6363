// SPDX-License-Identifier: MIT
// The customization point for types of other libraries.
#pragma once

#include <concepts>
#include <cstdint>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// Defines how to save and load a `T` whose parts Cairn cannot find by itself. docs/adapters.md has an example of each
/// form. Specialise it with one of these three:
///
/// - `static tensor_view<E> view(T&)`: T is one array, read and written in place. Or `static any_tensor_view view(T&)`,
///   if the element type is known only at run time, or if the array is in the memory of a device. Where it can grow,
///   `static void resize(T&, const extents&)`, or `resize(T&, const extents&, dtype)`, which also gets the stored
///   element type. `static bool can_be(const extents&)`, or `can_be(const T&, const extents&)`: whether `resize` can
///   give it that shape; without it, `resize` gets shapes of the same number of dimensions only, and is tried on
///   another T before a load changes the state, but not for more than 2^20 elements.
/// - `template <class Field> static void fields(T& object, const Field& field)`, which calls `field("name", member)`
///   for each part. `field` also tells the purpose of the call and what the checkpoint has: see `adapter_field`.
/// - `static P get(const T&)` and `static void set(T&, P)`: T is saved as a copy of type P, which Cairn can save. A
///   load calls `set` on another T before it changes the state; if that throws, the load fails and the state is as it
///   was. To refuse a value that does not fit the object itself, add `static void check(const T& object, const P&)`,
///   which throws. It may return a std::vector<std::string>: lines for load_report::replaced, without the path, such as
///   "batch: 20 in the program, 10 in the checkpoint".
///
/// Two more functions say how to make a T, where its default constructor does not or makes a null handle:
///
/// - `static T make()`: a T that a load can fill, for containers that grow, pointers, optionals, and for `set`.
/// - `static T prototype(const T& object)`: the T on which `set` is tried before it changes `object`.
///
/// What these functions throw becomes a cairn::error with the path of the object.
template <class T>
struct adapter;

/// `template <> inline constexpr bool cairn::use_bridge<T> = true;`: a T is saved through the functions that it has for
/// another serialization library, whose bridge is included (`cairn/adapters/cereal.hpp`), also where Cairn could save
/// it in another way. This also says that functions of a base class are complete for T, and that T has a default
/// constructor, which only that library can call.
template <class T>
inline constexpr bool use_bridge = false;

/// `template <> inline constexpr bool cairn::is_container<T> = true;`: says that a class is saved by its operations
/// alone: its elements, its values and their shape, or its content. T has the operations of a container,
/// tensor, optional, pointer or the like of the standard library; members beside these are neither saved nor loaded.
/// Classes of the standard library, Boost, Abseil, folly and xtensor need no such line.
template <class T>
inline constexpr bool is_container = false;

namespace detail {
class bool_array;  // copies.hpp
}
template <>
inline constexpr bool is_container<detail::bool_array> = true;

/// Why Cairn walks the parts of an object.
enum class purpose : std::uint8_t {
  describe,  ///< for a save: the object must not change
  check,     ///< to compare the object with a checkpoint: it must not change
  apply      ///< to give the object the structure of a checkpoint; its arrays are read later
};

namespace detail {

/// How to walk a T by the functions of another serialization library: `static void walk(walker&, T&)`.
template <class T>
struct bridge;

template <class T>
concept has_bridge = requires { sizeof(bridge<T>); };

template <class T>
concept has_adapter = requires { sizeof(adapter<T>); };

template <class T>
concept has_view_adapter = has_adapter<T> && requires(T& object) { adapter<T>::view(object); };

template <class T>
concept has_copy_adapter = has_adapter<T> && requires(const T& object) { adapter<T>::get(object); };

template <class T, class P>
concept has_checked_adapter =
    has_adapter<T> && requires(const T& object, const P& stored) { adapter<T>::check(object, stored); };

template <class T>
concept has_make_adapter = has_adapter<T> && requires {
  { adapter<T>::make() } -> std::same_as<T>;
};

template <class T>
concept has_prototype_adapter = has_adapter<T> && requires(const T& object) {
  { adapter<T>::prototype(object) } -> std::same_as<T>;
};

/// Whether T() compiles. std::is_default_constructible may be cached as false for a nested class whose members have
/// initializers, if a std::optional of it is declared in the outer class.
template <class T>
concept default_made = requires { T(); };

template <class T>
concept lacks_default_order = requires {
  typename T::key_compare;
  requires !default_made<typename T::key_compare>;
} || requires {
  typename T::hasher;
  requires !(default_made<typename T::hasher> && default_made<typename T::key_equal>);
};
template <class T>
concept lacks_default_allocator = requires {
  typename T::allocator_type;
  requires !default_made<typename T::allocator_type>;
};

/// Containers of the standard library may claim to have a default constructor that does not compile, as that of their
/// comparator, hash function or allocator is missing.
template <class T>
concept has_default = default_made<T> && !lacks_default_order<T> && !lacks_default_allocator<T>;

/// A T that a load can make.
template <class T>
concept makeable = has_default<T> || has_make_adapter<T>;

/// A new T, by `adapter<T>::make` if there is one.
template <makeable T>
[[nodiscard]] T* new_object() {
  if constexpr (has_make_adapter<T>)
    return new T(adapter<T>::make());
  else
    return new T();
}

/// A new T to try the adapter's `set` on before `object` changes; null if none can be made.
template <class T>
[[nodiscard]] T* new_prototype([[maybe_unused]] const T& object) {
  if constexpr (has_prototype_adapter<T>)
    return new T(adapter<T>::prototype(object));
  else if constexpr (makeable<T>)
    return new_object<T>();
  else
    return nullptr;
}

}  // namespace detail
}  // namespace cairn::inline v0_1
