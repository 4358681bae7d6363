// Walks containers of elements in a row: columns where the elements have a fixed layout, else one path per
// element.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn::detail {

/// Growths of at least this many bytes wait until large pages have been prepared for all of them.
inline constexpr std::uint64_t deferred_growth_bytes = 64 * 1024;

template <class T>
void resize_to(T& object, std::uint64_t size) {
  using element = typename T::value_type;
  if constexpr (std::is_default_constructible_v<element> && std::is_move_constructible_v<element>) {
    object.resize(size);
  } else if constexpr (std::is_default_constructible_v<element>) {
    T fresh(size);
    object.swap(fresh);
  } else {
    while (static_cast<std::uint64_t>(std::distance(object.begin(), object.end())) > size) object.pop_back();
  }
}

/// Makes room for `size` elements and returns where they begin; big growths only reserve and are finished
/// later.
template <class T>
auto* grow_contiguous(walker& w, T& object, std::uint64_t size) {
  using element = typename T::value_type;
  const bool big = size * sizeof(element) >= deferred_growth_bytes && object.size() < size;
  if constexpr (requires {
                  object.reserve(size);
                  object.capacity();
                }) {
    if (big && w.match().immediate == 0 && object.capacity() < size) {
      object.clear();
      object.reserve(size);
      w.match().growths.push_back({&object, size,
                                   [](void* container, std::uint64_t n) { static_cast<T*>(container)->resize(n); },
                                   reinterpret_cast<std::byte*>(object.data()), size * sizeof(element)});
      return object.data();
    }
  }
  if (object.size() != size) object.resize(size);
  return object.data();
}

/// Elements of fixed layout side by side: `rows` x the leaves of the first one.
template <class T>
void walk_columns(walker& w, std::uint64_t rows, T* first) {
  const bool stands_in = !w.is_describing() && (rows == 0 || first == nullptr);
  if (stands_in) ++w.match().prototypes;
  w.begin_batch(rows, sizeof(T));
  walk(w, rows > 0 && first ? *first : no_object<T>());
  w.end_batch();
  if (stands_in) --w.match().prototypes;
}

/// How many rows the checkpoint has for a container of `Element`s at the object at hand.
template <class Element>
std::optional<std::uint64_t> stored_rows(walker& w) {
  w.begin_probe();
  walk(w, no_object<Element>());
  return w.end_probe();
}

template <class T>
void walk_contiguous(walker& w, T& object) {
  using element = typename T::value_type;
  if (w.is_describing()) return walk_columns(w, object.size(), object.data());
  const auto stored = stored_rows<element>(w);
  const std::uint64_t rows = stored.value_or(object.size());
  if (rows != object.size()) w.match().resized(w.path());
  if (rows > object.size()) w.match().grows(w.path(), rows, sizeof(element));
  if (w.is_writing()) return walk_columns(w, rows, grow_contiguous(w, object, rows));
  walk_columns(w, rows, rows == object.size() ? object.data() : nullptr);
}

template <class T>
void walk_valarray(walker& w, T& object) {
  using element = typename T::value_type;
  static_assert(flat<element>, "cairn: a valarray of numbers");
  const auto first = [&] { return object.size() > 0 ? &object[0] : nullptr; };
  if (w.is_describing()) return walk_columns(w, object.size(), first());
  const std::uint64_t rows = stored_rows<element>(w).value_or(object.size());
  if (rows != object.size()) w.match().resized(w.path());
  if (rows > object.size()) w.match().grows(w.path(), rows, sizeof(element));
  if (w.is_writing() && rows != object.size()) object.resize(rows);
  walk_columns(w, rows, rows == object.size() ? first() : nullptr);
}

/// Elements with sizes of their own, each under its index.
template <class T>
void walk_elements(walker& w, T& object) {
  using element = typename T::value_type;
  const auto count = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
  std::uint64_t size = count;
  if (w.is_describing()) {
    w.state(fact::kind::size, count);
  } else if (const fact* stored = w.stored(fact::kind::size)) {
    size = w.match().checked_size(w.path(), stored->number, std::is_empty_v<element>);
    if (size != count) w.match().resized(w.path());
    if (w.is_writing() && size != count) resize_to(object, size);
  }
  std::uint64_t i = 0;
  for (auto& each : object) {
    if (i == size) break;
    walk_part(w, i++, each);
  }
  for (; i < size; ++i) {
    w.enter(i);
    walk_prototype<element>(w);
    w.leave();
  }
}

template <class T>
void walk_sequence(walker& w, T& object) {
  if (w.is_filtered()) return;
  if constexpr (contiguous<T> && flat<typename T::value_type>)
    walk_contiguous(w, object);
  else
    walk_elements(w, object);
}

template <class T>
void walk_span(walker& w, T& object) {
  using element = typename T::element_type;
  static_assert(!std::is_const_v<element>,
                "cairn: a span of const elements can be saved but not loaded: use a span of mutable elements");
  static_assert(flat<element>, "cairn: a span of elements of fixed layout; else save the container that owns them");
  walk_columns(w, object.size(), object.data());
}

template <class T>
void walk_container_adaptor(walker& w, T& object) {
  struct opened : T {
    using T::c;
  };
  walk(w, object.*(&opened::c));
}

}  // namespace cairn::detail
