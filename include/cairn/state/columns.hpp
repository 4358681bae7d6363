// Columns: elements that do not lie side by side in the state, laid side by side to be saved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
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
concept copied = requires { typename copy_traits<T>::type; };

template <class T>
using copy_type = typename copy_traits<T>::type;

/// Elements that may live in a column: of fixed layout, strings, or copied as one of these. What is checked against the
/// very object that it would go into is loaded one by one.
template <class T>
concept columnar = flat<T> || text<T> ||
                   (copied<T> && (flat<copy_type<T>> || text<copy_type<T>>) && !has_checked_adapter<T, copy_type<T>>);

/// The elements of a copy that stands in for a row of T.
template <class T>
struct column_element {
  using type = T;
};
template <copied T>
requires(!flat<T>)
struct column_element<T> {
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
  else {
    copy_type<T> copy(std::forward<Stored>(stored));
    copy_traits<T>::put(value, copy);
  }
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
      ((decided = decided || (less = key_less(get<I>(left), get<I>(right))) || key_less(get<I>(right), get<I>(left))),
       ...);
    }(std::make_index_sequence<arity<Key>>{});
    return less;
  }
}

/// Pointers to all values of an associative container in key order.
template <class Container, class KeyOf>
auto in_key_order(const Container& container, const KeyOf& key_of) {
  using value_type = typename Container::value_type;
  std::vector<std::pair<const value_type*, std::size_t>> numbered;  // equal keys keep their order
  numbered.reserve(container.size());
  for (const auto& value : container) numbered.emplace_back(&value, numbered.size());
  if constexpr (!requires { typename Container::key_compare; })
    std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
      if (key_less(key_of(*a.first), key_of(*b.first))) return true;
      return !key_less(key_of(*b.first), key_of(*a.first)) && a.second < b.second;
    });
  std::vector<const value_type*> order;
  order.reserve(numbered.size());
  for (const auto& [value, number] : numbered) order.push_back(value);
  return order;
}

}  // namespace cairn::detail
