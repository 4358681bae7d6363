// Walks maps whose values have paths of their own, one per key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::detail {

/// The integer type as which a key that is not text is written in a path.
template <class Key>
struct key_number {
  using type = Key;
};
template <class Key>
requires(std::is_enum_v<Key>)
struct key_number<Key> {
  using type = std::underlying_type_t<Key>;
};

template <class Key>
std::string key_text(const Key& key) {
  if constexpr (text<Key>)
    return std::string(key.data(), key.size());
  else
    return std::to_string(static_cast<typename key_number<Key>::type>(key));
}

/// Returns false if the text is not a number of that type.
CAIRN_INLINE bool parse_number(const std::string& from, std::int64_t& number);
CAIRN_INLINE bool parse_number(const std::string& from, std::uint64_t& number);

/// Returns false if the text is not a key of that type.
template <class Key>
bool parse_key(const std::string& from, Key& key) {
  if constexpr (text<Key>) {
    key = Key(from.data(), from.size());
    return true;
  } else {
    std::conditional_t<std::is_signed_v<typename key_number<Key>::type>, std::int64_t, std::uint64_t> number{};
    if (!parse_number(from, number)) return false;
    key = static_cast<Key>(number);
    return key_text(key) == from;
  }
}

template <class T>
struct map_of {
  using key = typename T::key_type;
  using mapped = typename T::mapped_type;

  static std::vector<map_operations::entry> entries(void* map) {
    std::vector<map_operations::entry> all;
    for_each_in_key_order(
        *static_cast<T*>(map), [](const auto& entry) -> const key& { return entry.first; },
        [&](auto& entry) { all.push_back({key_text(entry.first), std::addressof(entry.second)}); });
    return all;
  }
  static bool is_key(const std::string& text) {
    key parsed{};
    return parse_key(text, parsed);
  }
  static void* find(void* map, const std::string& text) {
    key parsed{};
    parse_key(text, parsed);
    const auto at = static_cast<T*>(map)->find(parsed);
    return at == static_cast<T*>(map)->end() ? nullptr : std::addressof(at->second);
  }
  static void insert(void* map, const std::string& text) {
    key parsed{};
    parse_key(text, parsed);
    if constexpr (has_make_adapter<mapped>)
      static_cast<T*>(map)->emplace(std::move(parsed), adapter<mapped>::make());
    else
      (*static_cast<T*>(map))[std::move(parsed)];
  }
  static void erase(void* map, const std::string& text) {
    key parsed{};
    parse_key(text, parsed);
    static_cast<T*>(map)->erase(parsed);
  }

  static constexpr map_operations operations{walk<mapped>, walk_prototype<mapped>, entries, is_key, find, insert,
                                             erase};
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/walk_map.ipp"  // IWYU pragma: keep
#endif
