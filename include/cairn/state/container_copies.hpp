// SPDX-License-Identifier: MIT
// Containers that are saved as columns or as a vector: sets, maps, and sequences that are not contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/copies.hpp"
#include "cairn/state/operations.hpp"

namespace cairn::inline v0_1::detail {

/// errc::mismatch: a container cannot get the stored number of elements.
void check_limits(const size_limits& limits, std::uint64_t stored);
/// errc::mismatch: an associative container has fewer elements than the `stored` ones inserted, as it finds some equal.
void check_distinct(std::size_t size, std::size_t stored);
/// errc::mismatch: the columns of a map differ in length.
void check_columns(std::size_t keys, std::size_t values);
inline constexpr std::string_view order_is_null = "its comparator or hash function is null; make it before the load";
/// errc::mismatch: that.
[[noreturn]] void fail_order();

/// Sequences of columnar elements that are not contiguous, or whose elements are not of fixed layout.
template <class T>
requires(category_of<T>() == category::sequence && columnar<typename T::value_type> && !column_sequence<T>)
struct copy_traits<T> {
  using element = typename T::value_type;
  using type = column<element>;

  [[nodiscard]] static std::uint64_t size(const T& value) { return detail::count_elements(value); }
  static type take(const T& value) {
    column_writer<element> copy(static_cast<std::size_t>(size(value)));
    for (const auto& each : value) copy.add(each);
    return copy.take();
  }
  static void put(T& value, type& stored) {
    if (const std::uint64_t wanted = detail::column_size<element>(stored); wanted != size(value))
      detail::resize_to(value, wanted);
    column_reader<element> next(stored);
    for (auto& each : value) next.read(each);
  }
  /// The elements after the stored ones, or all, if they may move.
  template <class Action>
  static void for_each_freed(T& value, const type* stored, const Action& action) {
    const std::uint64_t wanted = stored ? detail::column_size<element>(*stored) : 0, now = size(value);
    const std::uint64_t kept = now == wanted || !elements_move<T>() ? wanted : 0;
    std::uint64_t index = 0;
    for (auto&& each : value)
      if (index++ >= kept)
        if constexpr (std::is_lvalue_reference_v<decltype(each)>) action(each);
  }
  static void check(const T& value, const type& stored) {
    const std::uint64_t wanted = detail::column_size<element>(stored);
    if (const auto now = size(value); wanted != now) detail::check_limits(detail::limits_of(value, now), wanted);
  }
  static void try_put(const T&, type& stored) {
    if constexpr (!flat<element> && default_made<element>) {
      column_reader<element> next(stored);
      const auto trial = std::make_unique<element>();  // it may be too large for the stack
      for (auto left = detail::column_size<element>(stored); left > 0; --left) next.read(*trial);
    }
  }
};

template <class Function>
[[nodiscard]] bool is_null([[maybe_unused]] const Function& function) {
  if constexpr (!std::is_empty_v<Function> && requires { function == nullptr; })
    return function == nullptr;
  else
    return false;
}

/// Throws if a container without a comparator or hash function, such as a null pointer, is to get elements, or more
/// than it can have.
template <class T>
void check_associative(const T& value, std::uint64_t stored) {
  if (stored == 0) return;
  if constexpr (requires { value.key_comp(); })
    if (detail::is_null(value.key_comp())) fail_order();
  if constexpr (requires { value.hash_function(); })
    if (detail::is_null(value.hash_function()) || detail::is_null(value.key_eq())) fail_order();
  if constexpr (requires { value.max_size(); }) detail::check_limits({0, value.max_size()}, stored);
}

/// An empty container with the same comparator or hash function. Its allocator is the default one where that can be
/// made, since a resource of fixed size may not have memory for two.
template <class T>
[[nodiscard]] T empty_like(const T& value) {
  if constexpr (requires { T(value.key_comp(), value.get_allocator()); }) {
    if constexpr (std::is_default_constructible_v<typename T::allocator_type>)
      return T(value.key_comp());
    else
      return T(value.key_comp(), value.get_allocator());
  } else if constexpr (requires { T(std::size_t{}, value.hash_function(), value.key_eq(), value.get_allocator()); }) {
    if constexpr (std::is_default_constructible_v<typename T::allocator_type>)
      return T(std::size_t{}, value.hash_function(), value.key_eq());
    else
      return T(std::size_t{}, value.hash_function(), value.key_eq(), value.get_allocator());
  } else if constexpr (requires { T(value.key_comp()); }) {
    return T(value.key_comp());
  } else {
    return T();
  }
}

/// Where to insert the next element: elements come in the container's order; if it has none, equal keys stay together.
template <class T, class Iterator>
[[nodiscard]] auto insertion_hint(T& container, [[maybe_unused]] Iterator last) {
  if constexpr (requires { typename T::key_compare; })
    return container.end();
  else
    return last;
}

template <class T>
requires(category_of<T>() == category::set)
struct copy_traits<T> {
  using element = typename T::value_type;
  static constexpr auto make_type() {
    if constexpr (columnar<element>)
      return std::type_identity<column<element>>{};
    else
      return std::type_identity<std::vector<element>>{};
  }
  using type = typename decltype(make_type())::type;
  static constexpr auto key_of = [](const element& e) -> const element& { return e; };

  [[nodiscard]] static std::size_t stored_size(const type& stored) {
    if constexpr (columnar<element>)
      return detail::column_size<element>(stored);
    else
      return stored.size();
  }
  static type take(const T& value) {
    if constexpr (columnar<element>) {
      column_writer<element> copy(value.size());
      detail::for_each_in_key_order(value, key_of, [&](const element& each) { copy.add(each); });
      return copy.take();
    } else {
      type copy;
      detail::for_each_in_key_order(value, key_of, [&](const element& each) { copy.push_back(each); });
      return copy;
    }
  }
  static void put(T& value, type& stored) {
    value.clear();
    auto at = value.end();
    const auto insert = [&](element&& each) { at = value.insert(detail::insertion_hint(value, at), std::move(each)); };
    if constexpr (columnar<element>) {
      column_reader<element> next(stored);
      const auto each = std::make_unique<element>();
      for (auto left = detail::column_size<element>(stored); left > 0; --left) {
        next.read(*each);
        insert(std::move(*each));
      }
    } else {
      for (auto& each : stored) insert(std::move(each));
    }
    detail::check_distinct(value.size(), stored_size(stored));
  }
  static void check(const T& value, const type& stored) { detail::check_associative(value, stored_size(stored)); }
  static void try_put(const T& value, type& stored) {
    T trial = detail::empty_like(value);
    put(trial, stored);
  }
};

/// The keys that can be part of a path.
template <class T>
concept short_key = text<T> || std::is_integral_v<T> || std::is_enum_v<T>;

/// Maps that are saved as two columns.
template <class T>
concept columnar_map =
    category_of<T>() == category::map && columnar<typename T::key_type> && columnar<typename T::mapped_type>;

/// Maps whose keys name the paths of the values: the values do not fit into columns, and a key occurs once.
template <class T>
concept keyed_map = category_of<T>() == category::map && !columnar<typename T::mapped_type> &&
                    short_key<typename T::key_type> && requires(T& t, typename T::key_type k) { t[k]; };

template <columnar_map T>
struct copy_traits<T> {
  using key = typename T::key_type;
  using mapped = typename T::mapped_type;
  using type = map_columns<column<key>, column<mapped>>;
  static constexpr auto key_of = [](const auto& entry) -> const key& { return entry.first; };

  static bool has_keys(const T& value, const type& stored) {
    std::size_t i = 0;
    bool is_same = value.size() == detail::column_size<key>(stored.key);
    if (is_same)
      detail::for_each_in_key_order(value, key_of, [&](const auto& entry) {
        is_same = is_same && detail::is_stored_at<key>(stored.key, i++, entry.first);
      });
    return is_same;
  }
  static type take(const T& value) {
    column_writer<key> keys(value.size());
    column_writer<mapped> values(value.size());
    detail::for_each_in_key_order(value, key_of, [&](const auto& entry) {
      keys.add(entry.first);
      values.add(entry.second);
    });
    return {keys.take(), values.take()};
  }
  /// Entries with the stored keys get their values in place.
  static void put(T& value, type& stored) {
    column_reader<key> keys(stored.key);
    column_reader<mapped> values(stored.value);
    if (has_keys(value, stored))
      return detail::for_each_in_key_order(value, key_of, [&](auto& entry) { values.read(entry.second); });
    value.clear();
    const std::size_t size = detail::column_size<key>(stored.key);
    auto at = value.end();
    const auto k = std::make_unique<key>();
    for (std::size_t i = 0; i < size; ++i) {
      keys.read(*k);
      at = value.emplace_hint(detail::insertion_hint(value, at), std::piecewise_construct,
                              std::forward_as_tuple(std::move(*k)), std::forward_as_tuple());
      values.read(at->second);
    }
    detail::check_distinct(value.size(), size);
  }
  template <class Action>
  static void for_each_freed(T& value, const type* stored, const Action& action) {
    if (stored && has_keys(value, *stored)) return;
    for (auto& entry : value) action(entry.second);
  }
  static void check(const T& value, const type& stored) {
    detail::check_columns(detail::column_size<key>(stored.key), detail::column_size<mapped>(stored.value));
    detail::check_associative(value, detail::column_size<key>(stored.key));
  }
  static void try_put(const T& value, type& stored) {
    if (has_keys(value, stored)) return;  // no entry is made
    T trial = detail::empty_like(value);
    put(trial, stored);
  }
};

}  // namespace cairn::inline v0_1::detail
