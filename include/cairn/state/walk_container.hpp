// SPDX-License-Identifier: MIT
// Walks containers: sequences as columns if the elements have a fixed layout, else with one path per element; and maps
// whose values have paths of their own: those of their keys, or numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/state/adapter.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

template <class Action>
void for_each_element(void* sequence, const sequence_operations& how, Action action) {
  how.for_each(sequence, &action, [](void* context, void* element) { (*static_cast<Action*>(context))(element); });
}

template <class Action>
void for_each_entry(void* map, const map_operations& how, Action action) {
  how.for_each(map, &action,
               [](void* context, std::string_view key, void* value) { (*static_cast<Action*>(context))(key, value); });
}

/// Walks elements that are not saved as columns, each with its index as path.
void walk_elements(walker& w, void* sequence, const sequence_operations& how);

/// Operations of a container with contiguous elements of a fixed layout. `Grows`: its size is data, whatever it holds.
template <class T, bool Grows = false>
struct contiguous_container {
  using element = typename T::value_type;
  // `reserve` returns memory without elements, and the walk of a load notes addresses in it. So the elements have an
  // implicit lifetime, the walk writes to none of them, and `clear` loses no members that are not state.
  static constexpr row_traits traits = row_traits_of<element>;
  static constexpr bool can_reserve = implicit_lifetime<element> && std::is_move_constructible_v<element> &&
                                      !traits.has_skipped && !traits.is_filled_at_once && requires(T& object) {
                                        object.reserve(object.capacity());
                                        object.clear();
                                        object.data();
                                      };

  [[nodiscard]] static void* first(T& object) {
    if constexpr (requires { object.data(); })
      return object.data();
    else
      return object.size() > 0 ? std::addressof(object[0]) : nullptr;
  }
  static void* resize(void* container, std::uint64_t size) {
    T& object = *static_cast<T*>(container);
    detail::resize_to(object, size);
    return first(object);
  }
  static void* reserve(void* container, std::uint64_t size) {
    if constexpr (can_reserve) {
      T& object = *static_cast<T*>(container);
      if (object.capacity() >= size || (traits.is_listed && object.size() > 0)) return nullptr;
      object.clear();
      object.reserve(size);
      return object.data();
    } else {
      return nullptr;
    }
  }

  static constexpr auto content = string<T>                   ? contiguous_operations::content::text
                                  : !Grows && number_array<T> ? contiguous_operations::content::numbers
                                                              : contiguous_operations::content::objects;
  static constexpr contiguous_operations operations{
      sizeof(element), walk<element>, sample_address<element>, resize, can_reserve ? reserve : nullptr, content};

  static void walk_all(walker& w, T& object) {
    w.contiguous(&object, object.size(), first(object), operations, detail::limits_of(object, object.size()));
  }
};

/// The operations of a sequence whose elements have paths of their own.
template <class T>
struct sequence_of {
  using element = typename T::value_type;

  static std::uint64_t size(void* sequence, size_limits& limits) {
    const T& object = *static_cast<const T*>(sequence);
    const std::uint64_t now = detail::count_elements(object);
    limits = detail::limits_of(object, now);
    return now;
  }
  static void resize(void* sequence, std::uint64_t size) { detail::resize_to(*static_cast<T*>(sequence), size); }
  static void for_each(void* sequence, void* context, void (*action)(void* context, void* element)) {
    for (auto& each : *static_cast<T*>(sequence)) action(context, std::addressof(each));
  }

  static consteval bool elements_are_made() {
    return elements_move<T>() &&
           (resizing_of<T>() == resizing::replaces ||
            (!std::is_nothrow_move_constructible_v<element> && std::is_copy_constructible_v<element>));
  }
  static constexpr sequence_operations operations{object_operations_of<element>,
                                                  sizeof(element),
                                                  elements_move<T>(),
                                                  elements_are_made(),
                                                  row_traits_of<element>.is_empty,
                                                  size,
                                                  resize,
                                                  for_each};
};

template <class T>
void walk_sequence(walker& w, T& object) {
  if constexpr (column_sequence<T>)
    contiguous_container<T>::walk_all(w, object);
  else
    detail::walk_elements(w, std::addressof(object), sequence_of<T>::operations);
}

template <class T>
void walk_span(walker& w, T& object) {
  using element = std::remove_const_t<typename T::element_type>;
  static constexpr contiguous_operations operations{
      sizeof(element), walk<element>, sample_address<element>,
      nullptr,         nullptr,       contiguous_operations::content::objects};
  w.as_view([&] { w.contiguous(&object, object.size(), const_cast<element*>(object.data()), operations, {}); });
}

template <class T>
struct opened_adaptor : T {
  using T::c;
};

/// The operations of std::priority_queue. `arrange` leaves a valid heap unchanged, which std::make_heap does not
/// guarantee, and needs no <algorithm>.
template <class T>
struct heap_of {
  struct opened : T {
    using T::c;
    using T::comp;
  };

  static bool has_order(const void* heap) { return !detail::is_null(static_cast<const T*>(heap)->*(&opened::comp)); }
  static void arrange(void* heap) {
    T& object = *static_cast<T*>(heap);
    auto& all = object.*(&opened::c);
    const auto& less = object.*(&opened::comp);
    const auto first = all.begin();
    const auto size = all.end() - first;
    for (auto root = size / 2 - 1; root >= 0; --root)
      for (auto at = root, child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && less(first[child], first[child + 1])) ++child;
        if (!less(first[at], first[child])) break;
        using std::swap;
        swap(first[at], first[child]);
        at = child;
      }
  }

  static constexpr heap_operations operations{has_order, arrange};
};

template <class T>
void walk_container_adaptor(walker& w, T& object) {
  using container = typename T::container_type;
  auto& all = object.*(&opened_adaptor<T>::c);
  if constexpr (column_sequence<container> && !copied<container>)
    contiguous_container<container, true>::walk_all(w, all);
  else
    detail::walk<container>(w, std::addressof(all));
  if constexpr (requires { typename T::value_compare; }) w.heap(std::addressof(object), heap_of<T>::operations);
}

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

/// A key as it is written in a path: a std::string, or a view of a key that is text.
template <class Key>
auto key_text(const Key& key) {
  if constexpr (text<Key>) {
    return std::string_view(key.data(), key.size());
  } else {
    if constexpr (has_enum_names<Key>)
      if (const auto name = detail::name_of_value(enum_table<Key>, detail::enum_number(key)); !name.empty())
        return std::string(name);
    return std::to_string(static_cast<typename key_number<Key>::type>(key));
  }
}

/// Returns false if the text is not a number of that type.
bool parse_number(const std::string& from, std::int64_t& number);
bool parse_number(const std::string& from, std::uint64_t& number);

/// Returns false if the text is not a key of that type.
template <class Key>
bool parse_key(const std::string& from, Key& key) {
  if constexpr (text<Key>) {
    key = Key(from.data(), from.size());
    return true;
  } else {
    if constexpr (has_enum_names<Key>)
      if (const auto* const found = detail::find_name(enum_table<Key>, from)) {
        key = static_cast<Key>(found->number);
        return true;
      }
    std::conditional_t<std::is_signed_v<typename key_number<Key>::type>, std::int64_t, std::uint64_t> number{};
    if (!parse_number(from, number)) return false;
    key = static_cast<Key>(number);
    return std::to_string(static_cast<typename key_number<Key>::type>(key)) == from;
  }
}

/// A map of the standard library has nodes, which stay where they are while others are inserted.
template <class T>
inline constexpr bool has_stable_elements = false;
template <class T>
requires requires { typename T::node_type; }
inline constexpr bool has_stable_elements<T> = type_name_view<T>().starts_with("std::");

/// errc::invalid: a container does not find a key that was inserted, such as a NaN.
[[noreturn]] void fail_lookup();

/// Whether different texts are different keys: a comparator or hash function of the user may take them for equal.
template <class T>
inline constexpr bool has_plain_keys = false;
template <class T>
requires requires { typename T::key_compare; }
inline constexpr bool has_plain_keys<T> = std::is_same_v<typename T::key_compare, std::less<typename T::key_type>> ||
                                          std::is_same_v<typename T::key_compare, std::less<>> ||
                                          std::is_same_v<typename T::key_compare, std::greater<typename T::key_type>> ||
                                          std::is_same_v<typename T::key_compare, std::greater<>>;
template <class T>
requires requires { typename T::key_equal; }
inline constexpr bool has_plain_keys<T> = std::is_same_v<typename T::key_equal, std::equal_to<typename T::key_type>> ||
                                          std::is_same_v<typename T::key_equal, std::equal_to<>>;

/// An empty map of keys with the comparator or hash function of `map`.
template <class T>
auto keys_like(const T& map) {
  using key = typename T::key_type;
  if constexpr (requires { map.key_comp(); })
    return std::map<key, bool, typename T::key_compare>(map.key_comp());
  else
    return std::unordered_map<key, bool, typename T::hasher, typename T::key_equal>(0, map.hash_function(),
                                                                                    map.key_eq());
}

/// The operations of a keyed map.
template <class T>
struct map_of {
  using key = typename T::key_type;
  using mapped = typename T::mapped_type;

  static std::uint64_t size(const void* map) { return static_cast<const T*>(map)->size(); }
  static void for_each(void* map, void* context, map_operations::action* action) {
    detail::for_each_in_key_order(
        *static_cast<T*>(map), [](const auto& entry) -> const key& { return entry.first; },
        [&](auto& entry) { action(context, detail::key_text(entry.first), std::addressof(entry.second)); });
  }
  static void check_keys(const void* map, const std::vector<std::string>& texts) {
    const T& object = *static_cast<const T*>(map);
    detail::check_associative(object, texts.size());
    if constexpr (!has_plain_keys<T>) {
      auto seen = detail::keys_like(object);
      for (const auto& text : texts) {
        key parsed{};
        detail::parse_key(text, parsed);
        seen.emplace(std::move(parsed), true);
      }
      detail::check_distinct(seen.size(), texts.size());
    }
  }
  static bool is_key(const std::string& text) {
    key parsed{};
    return detail::parse_key(text, parsed);
  }
  static void* at(void* map, const std::string& text, access what) {
    if constexpr (std::is_same_v<key, std::string>) {
      return at_key(*static_cast<T*>(map), text, what);
    } else {
      key parsed{};
      detail::parse_key(text, parsed);
      return at_key(*static_cast<T*>(map), parsed, what);
    }
  }
  static void* at_key(T& object, const key& wanted, access what) {
    if (what == access::make) {
      if constexpr (has_make_adapter<mapped>)
        object.emplace(wanted, adapter<mapped>::make());
      else if constexpr (makeable<mapped> && requires { object.try_emplace(object.end(), wanted)->second; })
        return std::addressof(object.try_emplace(object.end(), wanted)->second);  // keys come in order
      else if constexpr (makeable<mapped>)
        return std::addressof(object[wanted]);
    }
    const auto found = object.find(wanted);
    if (found == object.end()) return nullptr;
    if (what != access::remove) return std::addressof(found->second);
    object.erase(found);
    return nullptr;
  }

  static constexpr map_operations operations{
      sizeof(mapped), object_operations_of<mapped>, !has_stable_elements<T>, size, for_each, check_keys, is_key, at};
};

/// Whether two objects have the same description, bit for bit.
[[nodiscard]] bool is_same_state(walk_function walk, void* a, void* b);

/// The operations of a map that is neither columnar nor keyed.
template <class T>
struct entries_of {
  using key = typename T::key_type;
  using mapped = typename T::mapped_type;
  static constexpr bool can_make = makeable<mapped>;
  static constexpr auto key_of = [](const auto& entry) -> const key& { return entry.first; };

  [[nodiscard]] static bool equivalent(const T& map, const key& a, const key& b) {
    if constexpr (requires { map.key_comp(); })
      return !map.key_comp()(a, b) && !map.key_comp()(b, a);
    else
      return map.key_eq()(a, b);
  }
  static std::vector<entries_operations::entry> entries(void* map) {
    std::vector<entries_operations::entry> all;
    detail::for_each_in_key_order(*static_cast<T*>(map), key_of, [&](auto& entry) {
      all.push_back({const_cast<key*>(std::addressof(entry.first)), std::addressof(entry.second)});
    });
    return all;
  }
  static void* make_keys(std::uint64_t count) { return new key[static_cast<std::size_t>(count)](); }
  static void destroy_keys(void* keys) { delete[] static_cast<key*>(keys); }
  static bool has_keys(void* map, void* keys, std::uint64_t count) {
    const T& object = *static_cast<const T*>(map);
    detail::check_associative(object, count);
    if (object.size() != count) return false;
    auto* stored = static_cast<key*>(keys);
    bool same = true;
    detail::for_each_in_key_order(object, key_of, [&](auto& entry) {
      key* const now = const_cast<key*>(std::addressof(entry.first));
      if constexpr (short_key<key>)
        same = same && *now == *stored;
      else
        same = same && is_same_state(walk<key>, now, stored);
      ++stored;
    });
    return same;
  }
  static std::vector<void*> set_keys(void* map, const void* keys, std::uint64_t count) {
    std::vector<void*> values;
    if constexpr (can_make) {
      T& object = *static_cast<T*>(map);
      const auto* const stored = static_cast<const key*>(keys);
      object.clear();
      auto at = object.end();
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto hint = detail::insertion_hint(object, at);
        if constexpr (has_make_adapter<mapped>)
          at = object.emplace_hint(hint, stored[i], adapter<mapped>::make());
        else
          at = object.emplace_hint(hint, std::piecewise_construct, std::forward_as_tuple(stored[i]),
                                   std::forward_as_tuple());
        values.push_back(std::addressof(at->second));
      }
      detail::check_distinct(object.size(), static_cast<std::size_t>(count));
      if constexpr (!has_stable_elements<T>) {
        for (std::uint64_t i = 0; i < count; ++i) {  // an insertion may have moved the values
          if (i > 0 && equivalent(object, stored[i - 1], stored[i]))
            ++at;
          else
            at = object.equal_range(stored[i]).first;
          if (at == object.end()) fail_lookup();
          values[i] = std::addressof(at->second);
        }
      }
    }
    return values;
  }
  static void* make_like(const void* map) { return new T(detail::empty_like(*static_cast<const T*>(map))); }

  static constexpr entries_operations operations{walk<key>,   walk<mapped>, sizeof(mapped), entries,
                                                 sizeof(key), make_keys,    destroy_keys,   has_keys,
                                                 can_make,    set_keys,     make_like,      destroy<T>};
};

template <class T>
void walk_map(walker& w, T& object) {
  if constexpr (keyed_map<T>)
    w.map(&object, map_of<T>::operations);
  else
    w.entries(&object, entries_of<T>::operations);
}

}  // namespace cairn::inline v0_1::detail
