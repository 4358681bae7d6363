// Containers that are saved as columns or as a vector: sets, maps without paths of their own, and scattered sequences.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/columns.hpp"
#include "cairn/state/copies.hpp"

namespace cairn::detail {

/// Sequences of columnar elements that do not lie side by side, or are not themselves of fixed layout.
template <class T>
requires(category_of<T>() == category::sequence && columnar<typename T::value_type> &&
         !(contiguous<T> && flat<typename T::value_type>))
struct copy_traits<T> {
  using element = typename T::value_type;
  using type = column<element>;
  static type take(const T& value) {
    auto at = value.begin();
    return take_column<element>(static_cast<std::size_t>(std::distance(value.begin(), value.end())),
                                [&]() -> const element& { return *at++; });
  }
  static void put(T& value, type& stored) {
    T fresh(column_size<element>(stored));
    auto at = fresh.begin();
    put_column<element>(stored, [&](auto&& each) { put_element(*at++, std::forward<decltype(each)>(each)); });
    value.swap(fresh);
  }
};

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
  static type take(const T& value) {
    const auto order = in_key_order(value, [](const element& e) -> const element& { return e; });
    auto at = order.begin();
    if constexpr (columnar<element>) {
      return take_column<element>(order.size(), [&]() -> const element& { return **at++; });
    } else {
      type copy;
      for (; at != order.end(); ++at) copy.push_back(**at);
      return copy;
    }
  }
  static void put(T& value, type& stored) {
    T fresh;
    std::size_t size = 0;
    if constexpr (columnar<element>) {
      size = column_size<element>(stored);
      put_column<element>(stored, [&](auto&& each) {
        if constexpr (flat<element> || text<element>) {
          fresh.insert(fresh.end(), element(std::forward<decltype(each)>(each)));
        } else {
          element key{};
          put_element(key, std::forward<decltype(each)>(each));
          fresh.insert(fresh.end(), std::move(key));
        }
      });
    } else {
      size = stored.size();
      for (auto& each : stored) fresh.insert(fresh.end(), std::move(each));
    }
    if (fresh.size() != size) fail(errc::corrupt, {"a set with the same key twice"});
    value.swap(fresh);
  }
};

/// Maps whose entries can have paths of their own: one value per key, the key a short text.
template <class T>
concept short_key = text<T> || std::is_integral_v<T> || std::is_enum_v<T>;

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

  static type take(const T& value) {
    const auto order = in_key_order(value, [](const auto& entry) -> const key& { return entry.first; });
    type copy;
    if constexpr (in_columns) {
      auto at = order.begin();
      copy.key = take_column<key>(order.size(), [&]() -> const key& { return (*at++)->first; });
      at = order.begin();
      copy.value = take_column<mapped>(order.size(), [&]() -> const mapped& { return (*at++)->second; });
    } else {
      for (const auto* entry : order) copy.emplace_back(entry->first, entry->second);
    }
    return copy;
  }
  static void put(T& value, type& stored) {
    T fresh;
    std::size_t size = 0;
    if constexpr (in_columns) {
      size = column_size<key>(stored.key);
      if (size != column_size<mapped>(stored.value))
        fail(errc::corrupt, {"a map with a different number of keys and values"});
      const auto keys = std::make_unique<key[]>(size);
      std::size_t i = 0;
      put_column<key>(stored.key, [&](auto&& each) { put_element(keys[i++], std::forward<decltype(each)>(each)); });
      i = 0;
      put_column<mapped>(stored.value, [&](auto&& each) {
        if constexpr (flat<mapped> || text<mapped>) {
          fresh.emplace_hint(fresh.end(), std::move(keys[i++]), std::forward<decltype(each)>(each));
        } else {
          mapped one{};
          put_element(one, std::forward<decltype(each)>(each));
          fresh.emplace_hint(fresh.end(), std::move(keys[i++]), std::move(one));
        }
      });
    } else {
      size = stored.size();
      for (auto& [k, v] : stored) fresh.emplace_hint(fresh.end(), std::move(k), std::move(v));
    }
    if (fresh.size() != size) fail(errc::corrupt, {"a map with the same key twice"});
    value.swap(fresh);
  }
};

}  // namespace cairn::detail
