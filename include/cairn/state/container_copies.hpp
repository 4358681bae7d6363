// Containers that are saved as columns or as a vector: sets, maps, and sequences that are not contiguous.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/state/column_copy.hpp"
#include "cairn/state/copies.hpp"

namespace cairn::detail {

/// Sequences of columnar elements that are not contiguous, or whose elements are not of fixed layout.
template <class T>
requires(category_of<T>() == category::sequence && columnar<typename T::value_type> &&
         !(contiguous<T> && flat<typename T::value_type>))
struct copy_traits<T> {
  using element = typename T::value_type;
  using type = column<element>;
  static type take(const T& value) {
    column_writer<element> copy(static_cast<std::size_t>(std::distance(value.begin(), value.end())));
    for (const auto& each : value) copy.add(each);
    return copy.take();
  }
  static void put(T& value, type& stored) {
    T fresh(column_size<element>(stored));
    column_reader<element> next(stored);
    for (auto& each : fresh) next.read(each);
    value.swap(fresh);
  }
};

/// errc::corrupt: an associative container has fewer elements than the `stored` ones that were inserted, so a key was there twice.
CAIRN_INLINE void check_distinct(std::size_t size, std::size_t stored);
/// errc::corrupt: the columns of a map differ in length.
CAIRN_INLINE void check_columns(std::size_t keys, std::size_t values);

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

  static type take(const T& value) {
    if constexpr (columnar<element>) {
      column_writer<element> copy(value.size());
      for_each_in_key_order(value, key_of, [&](const element& each) { copy.add(each); });
      return copy.take();
    } else {
      type copy;
      for_each_in_key_order(value, key_of, [&](const element& each) { copy.push_back(each); });
      return copy;
    }
  }
  static void put(T& value, type& stored) {
    T fresh;
    std::size_t size = 0;
    if constexpr (columnar<element>) {
      size = column_size<element>(stored);
      column_reader<element> next(stored);
      for (std::size_t i = 0; i < size; ++i) {
        element each{};
        next.read(each);
        fresh.insert(fresh.end(), std::move(each));
      }
    } else {
      size = stored.size();
      for (auto& each : stored) fresh.insert(fresh.end(), std::move(each));
    }
    check_distinct(fresh.size(), size);
    value.swap(fresh);
  }
};

/// The keys that can be part of a path.
template <class T>
concept short_key = text<T> || std::is_integral_v<T> || std::is_enum_v<T>;

/// Maps whose values have their own paths: the values do not fit into columns, and a key occurs once.
template <class T>
concept keyed_map = category_of<T>() == category::map && !columnar<typename T::mapped_type> &&
                    short_key<typename T::key_type> && requires(T& t, typename T::key_type k) { t[k]; };

template <class T>
requires(category_of<T>() == category::map && !keyed_map<T>)
struct copy_traits<T> {
  using key = typename T::key_type;
  using mapped = typename T::mapped_type;
  static constexpr bool in_columns = columnar<key> && columnar<mapped>;
  static constexpr auto make_type() {
    if constexpr (in_columns)
      return std::type_identity<map_columns<column<key>, column<mapped>>>{};
    else
      return std::type_identity<std::vector<std::pair<key, mapped>>>{};
  }
  using type = typename decltype(make_type())::type;
  static constexpr auto key_of = [](const auto& entry) -> const key& { return entry.first; };

  static type take(const T& value) {
    if constexpr (in_columns) {
      column_writer<key> keys(value.size());
      column_writer<mapped> values(value.size());
      for_each_in_key_order(value, key_of, [&](const auto& entry) {
        keys.add(entry.first);
        values.add(entry.second);
      });
      return {keys.take(), values.take()};
    } else {
      type copy;
      for_each_in_key_order(value, key_of, [&](const auto& entry) { copy.emplace_back(entry.first, entry.second); });
      return copy;
    }
  }
  static void put(T& value, type& stored) {
    T fresh;
    std::size_t size = 0;
    if constexpr (in_columns) {
      size = column_size<key>(stored.key);
      check_columns(size, column_size<mapped>(stored.value));
      column_reader<key> keys(stored.key);
      column_reader<mapped> values(stored.value);
      for (std::size_t i = 0; i < size; ++i) {
        key k{};
        mapped v{};
        keys.read(k);
        values.read(v);
        fresh.emplace_hint(fresh.end(), std::move(k), std::move(v));
      }
    } else {
      size = stored.size();
      for (auto& [k, v] : stored) fresh.emplace_hint(fresh.end(), std::move(k), std::move(v));
    }
    check_distinct(fresh.size(), size);
    value.swap(fresh);
  }
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/container_copies.ipp"  // IWYU pragma: keep
#endif
