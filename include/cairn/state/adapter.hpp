// The customization point for types one does not own.
#pragma once

namespace cairn {

/// Says how to save a `T` that Cairn cannot see through. Specialise it with one of these:
///
/// - `static tensor_view<E> view(T&)`: T is one array, read and written in place. Where it can grow,
///   `static void resize(T&, const extents&)`, and `static bool can_be(const extents&)` if it cannot take every shape.
/// - `template <class Field> static void fields(T& object, const Field& field)`, which calls `field("name", member)` for
///   every part.
/// - `static P get(const T&)` and `static void set(T&, P)`: T is saved as a copy of type P, which Cairn can save. What
///   `set` throws leaves the state untouched. To refuse what does not fit the very object that would be set, add
///   `static void check(const T& object, const P&)`, which throws and leaves the state untouched, too.
template <class T>
struct adapter;

namespace detail {

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
