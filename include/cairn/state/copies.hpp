// Types that are saved as a copy of another type: what has no memory of its own to read from or to write
// into.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <locale>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/flat.hpp"

namespace cairn::detail {

/// bools side by side, one byte each, as std::vector<bool> is not.
class bool_array {
 public:
  using value_type = bool;

  [[nodiscard]] bool* data() noexcept { return values_.get(); }
  [[nodiscard]] bool* begin() noexcept { return values_.get(); }
  [[nodiscard]] bool* end() noexcept { return values_.get() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void resize(std::size_t size) {
    values_ = std::make_unique<bool[]>(size);
    size_ = size;
  }

 private:
  std::unique_ptr<bool[]> values_;
  std::size_t size_ = 0;
};

/// Many strings as two arrays: all text, and where each string ends.
struct text_column {
  std::string text;
  std::vector<std::uint64_t> ends;
};

/// A map of small keys and values as two columns, in the order of the keys.
template <class Keys, class Values>
struct map_columns {
  Keys key;
  Values value;
};

template <class T>
struct copy_traits;

/// T is saved as a copy of `copy_type<T>`, made by `copy_traits<T>::take` and given back by `put`.
template <class T>
concept copied = requires {
  typename copy_traits<T>::type;
};

template <class T>
using copy_type = typename copy_traits<T>::type;

/// Elements that may live in a column: of fixed layout, strings, or copied as one of these.
template <class T>
concept columnar = flat<T> || text<T> ||(copied<T> && (flat<copy_type<T>> || text<copy_type<T>>));

/// The elements of a copy that stands in for a row of T.
template <class T>
struct column_element {
  using type = T;
};
template <copied T>
requires(!flat<T>) struct column_element<T> {
  using type = copy_type<T>;
};

template <columnar T>
using column = std::conditional_t<
    text<typename column_element<T>::type>, text_column,
    std::conditional_t<std::same_as<T, bool>, bool_array, std::vector<typename column_element<T>::type>>>;

template <class T>
decltype(auto) take_element(const T& value) {
  if constexpr (flat<T> || text<T>)
    return (value);
  else
    return copy_traits<T>::take(value);
}

template <class T, class Stored>
void put_element(T& value, Stored&& stored) {
  if constexpr (flat<T> || text<T>)
    value = std::forward<Stored>(stored);
  else
    copy_traits<T>::put(value, std::forward<Stored>(stored));
}

/// Fills a column from `count` values that `next` hands out one after the other.
template <columnar T, class Next>
column<T> take_column(std::size_t count, const Next& next) {
  column<T> result;
  if constexpr (std::same_as<column<T>, text_column>) {
    result.ends.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      result.text += take_element(static_cast<const T&>(next()));
      result.ends.push_back(result.text.size());
    }
  } else {
    result.resize(count);
    for (auto& element : std::span(result.data(), count)) {
      if constexpr (std::is_array_v<T>)
        std::memcpy(&element, &next(), sizeof element);
      else
        element = take_element(static_cast<const T&>(next()));
    }
  }
  return result;
}

template <columnar T>
[[nodiscard]] std::size_t column_size(const column<T>& stored) noexcept {
  if constexpr (std::same_as<column<T>, text_column>)
    return stored.ends.size();
  else
    return stored.size();
}

/// Calls `accept(element)` for every element of a column.
template <columnar T, class Accept>
void put_column(column<T>& stored, const Accept& accept) {
  if constexpr (std::same_as<column<T>, text_column>) {
    std::uint64_t begin = 0;
    for (const auto end : stored.ends) {
      if (end < begin || end > stored.text.size())
        fail(errc::corrupt, {"a list of strings whose ends are not ascending or lie beyond the text"});
      accept(stored.text.substr(begin, end - begin));
      begin = end;
    }
  } else {
    for (auto& element : std::span(stored.data(), stored.size())) accept(std::move(element));
  }
}

/// Order for the keys of unordered containers: their own where they have one, else field by field.
template <class Key>
bool key_less(const Key& a, const Key& b) {
  if constexpr (requires {
                  { a < b } -> std::convertible_to<bool>;
                }) {
    return a < b;
  } else {
    static_assert(category_of<Key>() == category::record,
                  "cairn: the keys of an unordered container need operator<, so that the same state gives "
                  "the same bytes");
    bool less = false;
    bool decided = false;
    auto left = tie(a);
    auto right = tie(b);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      using boost::pfr::detail::sequence_tuple::get;
      ((decided = decided || (less = key_less(get<I>(left), get<I>(right))) ||
                  key_less(get<I>(right), get<I>(left))),
       ...);
    }
    (std::make_index_sequence<arity<Key>>{});
    return less;
  }
}

/// Pointers to all values of an associative container in key order.
template <class Container, class KeyOf>
auto in_key_order(const Container& container, const KeyOf& key_of) {
  std::vector<const typename Container::value_type*> order;
  order.reserve(container.size());
  for (const auto& value : container) order.push_back(&value);
  if constexpr (!requires { typename Container::key_compare; })
    std::stable_sort(order.begin(), order.end(),
                     [&](auto* a, auto* b) { return key_less(key_of(*a), key_of(*b)); });
  return order;
}

// --- the types that are copied
// ------------------------------------------------------------------------------------

template <class T>
requires(category_of<T>() == category::wide_scalar) struct copy_traits<T> {
  using type = std::array<std::byte, sizeof(T)>;
  static constexpr std::size_t value_bytes = std::same_as<T, long double> && sizeof(T) == 16 ? 10 : sizeof(T);
  static type take(const T& value) {
    type bytes{};  // the padding of an x87 number is zero in the file
    std::memcpy(bytes.data(), &value, value_bytes);
    return bytes;
  }
  static void put(T& value, const type& bytes) { std::memcpy(&value, bytes.data(), value_bytes); }
};

template <class T>
requires(category_of<T>() == category::path) struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) { return value.string(); }
  static void put(T& value, type stored) { value = std::move(stored); }
};

template <class T>
requires(category_of<T>() == category::atomic) struct copy_traits<T> {
  using type = typename T::value_type;
  static type take(const T& value) { return value.load(); }
  static void put(T& value, const type& stored) { value.store(stored); }
};

template <class T>
requires(category_of<T>() == category::calendar) struct copy_traits<T> {
  using type = std::array<std::int32_t, 3>;  // year, month, day: also of dates that do not exist
  static type take(const T& value) {
    return {static_cast<int>(value.year()), static_cast<std::int32_t>(static_cast<unsigned>(value.month())),
            static_cast<std::int32_t>(static_cast<unsigned>(value.day()))};
  }
  static void put(T& value, const type& stored) {
    value = T{std::chrono::year{stored[0]}, std::chrono::month{static_cast<unsigned>(stored[1])},
              std::chrono::day{static_cast<unsigned>(stored[2])}};
  }
};

template <class T>
requires(category_of<T>() == category::random) struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(17);
    text << value;
    return std::move(text).str();
  }
  static void put(T& value, const type& stored) {
    std::istringstream text(stored);
    text.imbue(std::locale::classic());
    T fresh;
    if (!(text >> fresh))
      fail(errc::corrupt, {"the text of a random engine or distribution cannot be read back"});
    value = std::move(fresh);
  }
};

template <class T>
requires(category_of<T>() == category::bits) struct copy_traits<T> {
  using type = bool_array;
  static type take(const T& value) {
    bool_array bools;
    bools.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) bools.data()[i] = value[i];
    return bools;
  }
  static void put(T& value, bool_array& stored) {
    if constexpr (requires { value.resize(1); }) value.resize(stored.size());
    if (value.size() != stored.size())
      fail(errc::mismatch, {"a bitset of ", std::to_string(value.size()), " bits cannot take ",
                            std::to_string(stored.size())});
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = stored.data()[i];
  }
};

template <class T>
requires(has_copy_adapter<T>) struct copy_traits<T> {
  using type = std::remove_cvref_t<decltype(adapter<T>::get(std::declval<const T&>()))>;
  static type take(const T& value) { return adapter<T>::get(value); }
  static void put(T& value, type& stored) { adapter<T>::set(value, std::move(stored)); }
};

/// Sequences of columnar elements that do not lie side by side, or are not themselves of fixed layout.
template <class T>
requires(category_of<T>() == category::sequence && columnar<typename T::value_type> &&
         !(contiguous<T> && flat<typename T::value_type>)) struct copy_traits<T> {
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
requires(category_of<T>() == category::set) struct copy_traits<T> {
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
concept keyed_map = category_of<T>()
== category::map && !columnar<typename T::mapped_type> &&
    (text<typename T::key_type> || std::is_integral_v<typename T::key_type> ||
     std::is_enum_v<typename T::key_type>)&&requires(T & t, typename T::key_type k) {
  t[k];
};

template <class T>
requires(category_of<T>() == category::map && !keyed_map<T>) struct copy_traits<T> {
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
      put_column<key>(stored.key,
                      [&](auto&& each) { put_element(keys[i++], std::forward<decltype(each)>(each)); });
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
