// Walks maps whose values have paths of their own, one per key.
#pragma once

#include <optional>
#include <unordered_set>

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class Key>
std::string key_text(const Key& key) {
  if constexpr (text<Key>)
    return std::string(key.data(), key.size());
  else if constexpr (std::is_enum_v<Key>)
    return std::to_string(static_cast<std::underlying_type_t<Key>>(key));
  else
    return std::to_string(key);
}

template <class Key>
std::optional<Key> parse_key(const std::string& from) {
  if constexpr (text<Key>) {
    return Key(from.data(), from.size());
  } else if constexpr (std::is_enum_v<Key>) {
    const auto number = parse_key<std::underlying_type_t<Key>>(from);
    return number ? std::optional(static_cast<Key>(*number)) : std::nullopt;
  } else {
    using number = std::conditional_t<std::is_signed_v<Key>, long long, unsigned long long>;
    number value{};
    const auto [end, failure] = std::from_chars(from.data(), from.data() + from.size(), value);
    const auto key = static_cast<Key>(value);
    if (failure != std::errc{} || end != from.data() + from.size() || static_cast<number>(key) != value)
      return std::nullopt;
    return key;
  }
}

template <class T>
void describe_map(walker& w, T& object) {
  const auto order = in_key_order(object, [](const auto& entry) -> const auto& { return entry.first; });
  fact entries{.what = fact::kind::keys};
  for (const auto* entry : order) entries.keys.push_back(key_text(entry->first));
  w.state(entries);
  for (std::size_t i = 0; i < order.size(); ++i)
    walk_part(w, entries.keys[i], const_cast<typename T::mapped_type&>(order[i]->second));
}

/// The stored keys as keys of T, in the order of the checkpoint.
template <class T>
std::vector<typename T::key_type> stored_keys(walker& w, const fact& stored) {
  std::vector<typename T::key_type> keys;
  std::unordered_set<std::string_view> seen;
  for (const auto& each : stored.keys) {
    auto key = parse_key<typename T::key_type>(each);
    if (!key || !seen.insert(each).second)
      fail(errc::corrupt, {w.path(), " in ", w.match().from.origin, " has the key '", each, "', ",
                           key ? "twice" : "which is not a key of that map"});
    keys.push_back(std::move(*key));
  }
  return keys;
}

template <class T>
void walk_map(walker& w, T& object) {
  if (w.is_filtered()) return;
  if (w.is_describing()) return describe_map(w, object);
  const fact* stored = w.stored(fact::kind::keys);
  if (!stored) {
    for (auto& [key, value] : object) walk_part(w, key_text(key), value);
    return;
  }
  const auto keys = stored_keys<T>(w, *stored);
  bool resized = keys.size() != object.size();
  for (const auto& key : keys) resized = resized || object.find(key) == object.end();
  if (resized) w.match().resized(w.path());
  if (resized && w.is_writing()) {
    const std::unordered_set<std::string_view> kept(stored->keys.begin(), stored->keys.end());
    for (auto at = object.begin(); at != object.end();)
      at = kept.contains(key_text(at->first)) ? std::next(at) : object.erase(at);
    for (const auto& key : keys) object[key];
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    w.enter(stored->keys[i]);
    const auto at = object.find(keys[i]);
    if (at != object.end())
      walk(w, at->second);
    else
      walk_prototype<typename T::mapped_type>(w);
    w.leave();
  }
}

}  // namespace cairn::detail
