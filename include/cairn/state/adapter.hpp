// The customization point for types of other libraries.
#pragma once

namespace cairn {

/// Defines how to save and load a `T` whose parts Cairn cannot find by itself. Specialise it with one of these:
///
/// - `static tensor_view<E> view(T&)`: T is one array, read and written in place. Where it can grow,
///   `static void resize(T&, const extents&)`, and `static bool can_be(const extents&)` if some shapes are impossible.
/// - `template <class Field> static void fields(T& object, const Field& field)`, which calls `field("name", member)` for
///   each part.
/// - `static P get(const T&)` and `static void set(T&, P)`: T is saved as a copy of type P, which Cairn can save. `set` is
///   tried on a temporary T before the state is changed; if it throws, the load fails and the state is as it was. To refuse a
///   value that does not fit the object itself, add `static void check(const T& object, const P&)`, which throws.
template <class T>
struct adapter;

/// `template <> inline constexpr bool cairn::use_bridge<T> = true;`: a T is saved through the functions that it has for another serialization
/// library, whose bridge is included (`cairn/adapters/cereal.hpp`), also where Cairn could save it in another way. This also says that functions
/// of a base class are complete for T, and that T has a default constructor, which only that library can call.
template <class T>
inline constexpr bool use_bridge = false;

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

}  // namespace detail
}  // namespace cairn
