// SPDX-License-Identifier: MIT
// Changes the number of elements of a sequence in place, so that it keeps its allocator, its capacity and its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
concept implicit_lifetime = std::is_trivially_destructible_v<T> &&
                            (std::is_aggregate_v<T> || std::is_trivially_default_constructible_v<T> ||
                             std::is_trivially_copy_constructible_v<T> || std::is_trivially_move_constructible_v<T>);

/// A T for the elements of an empty container: a walk uses its address. Only `resize_to` reads it; nothing writes it.
template <class T>
T& sample() {
  if constexpr (implicit_lifetime<T>) {
    alignas(T) static std::byte memory[sizeof(T)]{};  // an array of bytes creates the T in it: [intro.object]
    return *std::launder(reinterpret_cast<T*>(memory));
  } else {
    static_assert(default_made<T>,
                  "cairn: the elements of a container need a default constructor, or to be trivially copyable");
    static T object{};
    return object;
  }
}

template <class T>
void* sample_address() {
  return std::addressof(detail::sample<T>());
}

/// How `resize_to` changes the size of a sequence.
enum class resizing {
  inserts,   ///< the adapter of the elements makes them
  makes,     ///< the sequence makes its elements; lists and deques do not move those that they have
  replaces,  ///< a vector of elements that cannot be moved gets new ones, with the same allocator
  copies,    ///< trivial elements without a default constructor are copies of a sample
  shrinks,   ///< elements cannot be made
  none
};

template <class T>
consteval resizing resizing_of() {
  using element = typename T::value_type;
  constexpr bool makes = has_default<element>;
  constexpr bool moves_elements = requires(T& object) { object.capacity(); };
  if constexpr (has_make_adapter<element> && std::is_move_constructible_v<element> &&
                requires(T& object, element& each) {
                  object.erase(object.begin(), object.end());
                  object.insert(object.end(), std::move(each));
                })
    return resizing::inserts;
  else if constexpr (makes && (std::is_move_constructible_v<element> || !moves_elements))
    return resizing::makes;
  else if constexpr (makes && requires(T& object) { T(std::size_t{}, object.get_allocator()); })
    return resizing::replaces;
  else if constexpr (!makes && implicit_lifetime<element> && std::is_copy_constructible_v<element>)
    return resizing::copies;
  else if constexpr (requires(T& object) { object.pop_back(); })
    return resizing::shrinks;
  else
    return resizing::none;
}

/// errc::invalid: a sequence of that size goes over another number of elements, so that a save would lose some.
inline void check_iterated(std::uint64_t iterated, std::uint64_t size) {
  if (iterated != size)
    fail(errc::invalid, {"goes over ", iterated, " of its ", size,
                         " elements, so the others would be lost; specialise cairn::adapter for its type"});
}

/// The number of elements from `begin` to `end`. errc::invalid: it is not the size.
template <class T>
[[nodiscard]] std::uint64_t count_elements(const T& object) {
  const auto count = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
  if constexpr (requires { static_cast<std::uint64_t>(object.size()); })
    check_iterated(count, static_cast<std::uint64_t>(object.size()));
  return count;
}

/// The sizes that `resize_to` can give a container.
struct size_limits {
  std::uint64_t least = 0;
  std::uint64_t most = ~std::uint64_t{0};
  bool makes_elements = true;  ///< false: their type has no default constructor
};

/// The limits of a container that has `size` elements.
template <class T>
[[nodiscard]] size_limits limits_of(const T& object, std::uint64_t size) {
  using element = typename T::value_type;
  constexpr auto how = resizing_of<T>();
  if constexpr (how == resizing::none)
    return {size, size, makeable<element>};
  else if constexpr (how == resizing::shrinks)
    return {0, size, false};
  else if constexpr (requires { object.max_size(); })
    return {0, object.max_size(), true};
  else
    return {0, ~std::uint64_t{0}, true};
}

/// Precondition: `size` is within `limits_of(object, its size)`. O(size).
template <class T>
void resize_to(T& object, std::uint64_t size) {
  constexpr auto how = resizing_of<T>();
  const auto count = static_cast<std::size_t>(size);
  if constexpr (how == resizing::inserts) {
    const auto now = static_cast<std::uint64_t>(std::distance(object.begin(), object.end()));
    if (size < now) object.erase(std::next(object.begin(), static_cast<std::ptrdiff_t>(size)), object.end());
    for (auto i = now; i < size; ++i) object.insert(object.end(), adapter<typename T::value_type>::make());
  } else if constexpr (how == resizing::makes) {
    object.resize(count);
  } else if constexpr (how == resizing::replaces) {
    T fresh(count, object.get_allocator());
    object.swap(fresh);
  } else if constexpr (how == resizing::copies) {
    object.resize(count, sample<typename T::value_type>());
  } else if constexpr (how == resizing::shrinks) {
    while (static_cast<std::uint64_t>(std::distance(object.begin(), object.end())) > size) object.pop_back();
  }
}

}  // namespace cairn::inline v0_1::detail
