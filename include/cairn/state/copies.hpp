// SPDX-License-Identifier: MIT
// Types that are saved as a copy of another type, because their memory cannot be read or written as an array; and
// elements that no array in the state holds, such as those of a set, which are copied into columns.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/flat.hpp"
#include "cairn/state/random.hpp"

namespace cairn::inline v0_1::detail {

/// Bools of one byte each, contiguous; std::vector<bool> is not.
class bool_array {
 public:
  using value_type = bool;

  [[nodiscard]] bool* data() noexcept { return values_.get(); }
  [[nodiscard]] const bool* data() const noexcept { return values_.get(); }
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

/// Strings as two arrays: the text of all, and the end offset of each.
struct text_column {
  std::string text;
  std::vector<std::uint64_t> ends;

  void add(std::string_view value);
  /// String number `i`. errc::mismatch: the arrays are no list of strings.
  [[nodiscard]] std::string_view at(std::size_t i) const;
};

/// A map as two columns, keys and values, in the order of the keys.
template <class Keys, class Values>
struct map_columns {
  Keys key;
  Values value;
};

/// Specialised for each T that is saved as a copy.
template <class T>
struct copy_traits;

/// T is saved as a copy of type `copy_type<T>`, which `copy_traits<T>::take` makes and `put` writes back.
template <class T>
concept copied = requires { typename copy_traits<T>::type; };

template <class T>
using copy_type = typename copy_traits<T>::type;

/// Elements that a column can hold: of fixed layout, strings, or copied as one of these. Elements with a checking
/// adapter are saved one by one, since each is checked against its own object; so are those that only their adapter can
/// make, and those with members that are not state, which a copy would change.
template <class T>
concept columnar = (flat<T> && !row_traits_of<T>.has_skipped) || text<T> ||
                   (copied<T> && (flat<copy_type<T>> || text<copy_type<T>>) && !has_checked_adapter<T, copy_type<T>> &&
                    !has_make_adapter<T> && !has_prototype_adapter<T>);

/// The type of the elements of a column of T.
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
using column = std::conditional_t<text<typename column_element<T>::type>, text_column,
                                  std::conditional_t<std::same_as<typename column_element<T>::type, bool>, bool_array,
                                                     std::vector<typename column_element<T>::type>>>;

template <class T>
decltype(auto) take_element(const T& value) {
  if constexpr (flat<T> || text<T>)
    return (value);
  else
    return copy_traits<T>::take(value);
}

template <class T, class Stored>
void put_element(T& value, Stored&& stored) {
  if constexpr (flat<T>) {
    detail::assign_state(value, stored);
  } else if constexpr (text<T>) {
    value = std::forward<Stored>(stored);
  } else if constexpr (std::is_same_v<Stored, copy_type<T>>) {
    copy_traits<T>::put(value, stored);
  } else {
    copy_type<T> copy(std::forward<Stored>(stored));
    copy_traits<T>::put(value, copy);
  }
}

/// The characters of a text of any class.
template <text T>
[[nodiscard]] std::string_view text_in(const T& value) noexcept {
  return {value.data(), value.size()};
}

/// Makes a column from values that are added in order.
template <columnar T>
class column_writer {
 public:
  explicit column_writer(std::size_t count) {
    if constexpr (std::same_as<column<T>, text_column>)
      result_.ends.reserve(count);
    else if constexpr (std::same_as<column<T>, bool_array>)
      result_.resize(count);
    else
      result_.reserve(count);
  }

  void add(const T& value) {
    if constexpr (std::same_as<column<T>, text_column>)
      result_.add(detail::text_in(detail::take_element(value)));
    else if constexpr (requires { result_.push_back(detail::take_element(value)); })
      result_.push_back(detail::take_element(value));
    else
      result_.data()[at_++] = detail::take_element(value);
  }

  [[nodiscard]] column<T> take() { return std::move(result_); }

 private:
  column<T> result_;
  std::size_t at_ = 0;
};

template <columnar T>
[[nodiscard]] std::size_t column_size(const column<T>& stored) noexcept {
  if constexpr (std::same_as<column<T>, text_column>)
    return stored.ends.size();
  else
    return stored.size();
}

/// Whether element `i` of the column has the same bytes. Equal objects with padding may have different bytes.
template <columnar T>
[[nodiscard]] bool is_stored_at(const column<T>& stored, std::size_t i, const T& value) {
  if constexpr (std::same_as<column<T>, text_column>) {
    return stored.at(i) == detail::text_in(detail::take_element(value));
  } else {
    const auto& now = detail::take_element(value);
    return std::memcmp(std::addressof(now), stored.data() + i, sizeof now) == 0;
  }
}

/// Reads the elements of a column in order.
template <columnar T>
class column_reader {
 public:
  explicit column_reader(column<T>& stored) : stored_(stored) {}

  /// Puts the next element into `value`.
  void read(T& value) {
    if constexpr (std::same_as<column<T>, text_column>) {
      const auto found = stored_.at(at_++);
      if constexpr (text<T> && requires { value.assign(found.data(), found.size()); })
        value.assign(found.data(), found.size());  // in the memory that it has
      else
        detail::put_element(value, std::string(found));
    } else {
      detail::put_element(value, std::move(stored_.data()[at_++]));
    }
  }

 private:
  column<T>& stored_;
  std::size_t at_ = 0;
};

/// Pointers compare by address, which a load does not restore; and so do C arrays.
template <class Key>
concept compares_values = !std::is_array_v<Key> && category_of<Key>() != category::unique_pointer &&
                          category_of<Key>() != category::shared_pointer && requires(const Key& key) {
                            { key < key } -> std::convertible_to<bool>;
                          };

/// An order for the keys of unordered containers: operator< if they have it, else field by field.
template <class Key>
bool key_less(const Key& a, const Key& b) {
  if constexpr (compares_values<Key>) {
    return a < b;
  } else if constexpr (std::is_array_v<Key>) {
    for (std::size_t i = 0; i < std::extent_v<Key>; ++i) {
      if (detail::key_less(a[i], b[i])) return true;
      if (detail::key_less(b[i], a[i])) return false;
    }
    return false;
  } else {
    bool less = false;
    bool decided = false;
    parts_of<Key>::apply(a, [&](const auto&... left) {
      parts_of<Key>::apply(b, [&](const auto&... right) {
        ((decided = decided || (less = detail::key_less(left, right)) || detail::key_less(right, left)), ...);
      });
    });
    return less;
  }
}

/// Whether key_less can compare the keys.
template <class Key>
consteval bool has_key_order() {
  if constexpr (compares_values<Key>)
    return true;
  else if constexpr (std::is_array_v<Key>)
    return has_key_order<std::remove_all_extents_t<Key>>();
  else if constexpr (category_of<Key>() == category::record)
    return parts_of<Key>::are_known && []<class... Parts>(type_list<Parts...>) {
      return (has_key_order<std::remove_const_t<Parts>>() && ...);
    }(typename parts_of<Key>::types{});
  else
    return false;
}

/// Sorts pointers by the objects; stable.
void sort_pointers(std::vector<const void*>& all, bool (*less)(const void*, const void*));

/// Calls `action` for all values of an associative container in the order of their keys.
template <class Container, class KeyOf, class Action>
void for_each_in_key_order(Container& container, const KeyOf&, const Action& action) {
  using value = std::remove_reference_t<decltype(*container.begin())>;
  if constexpr (requires { typename Container::key_compare; }) {
    for (auto& each : container) action(each);
  } else {
    static_assert(std::is_empty_v<KeyOf>);
    std::vector<const void*> order;
    order.reserve(container.size());
    for (auto& each : container) order.push_back(std::addressof(each));
    sort_pointers(order, [](const void* a, const void* b) {
      const KeyOf key{};
      return detail::key_less(key(*static_cast<const value*>(a)), key(*static_cast<const value*>(b)));
    });
    for (const auto* each : order) action(*static_cast<value*>(const_cast<void*>(each)));
  }
}

/// The number of bytes of a wide scalar that hold its value; the rest is padding, written as zero. With the options
/// -std=gnu++, 128-bit integers and __float128 are wide scalars, too.
template <class T>
inline constexpr std::size_t value_bytes =
    std::is_same_v<T, long double> && std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(T);

template <class T>
requires(category_of<T>() == category::wide_scalar)
struct copy_traits<T> {
  using type = std::array<std::byte, sizeof(T)>;
  static type take(const T& value) {
    type bytes{};
    std::memcpy(bytes.data(), &value, value_bytes<T>);
    return bytes;
  }
  static void put(T& value, const type& bytes) {
    std::memcpy(static_cast<void*>(&value), bytes.data(), value_bytes<T>);
  }
};

template <class T>
requires(category_of<T>() == category::path)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) { return value.string(); }
  static void put(T& value, const type& stored) { value.assign(stored); }
};

template <class T>
requires(category_of<T>() == category::atomic)
struct copy_traits<T> {
  using type = typename T::value_type;
  static type take(const T& value) { return value.load(); }
  static void put(T& value, const type& stored) { value.store(stored); }
};

template <class T>
requires(category_of<T>() == category::random && !word_engine<T>)
struct copy_traits<T> {
  using type = std::string;
  static type take(const T& value) {
    T fresh;
    return detail::write_random(&value, &fresh, random_operations_of<T>);
  }
  static void put(T& value, const type& stored) {
    T fresh;
    detail::read_random(stored, &fresh, random_operations_of<T>);
    value = std::move(fresh);
  }
};

template <class T>
requires(category_of<T>() == category::random && word_engine<T>)
struct copy_traits<T> {
  using type = engine_words<T>;
  static type take(const T& value) {
    type words;
    std::memcpy(words.data(), &value, sizeof value);
    if (!detail::can_draw<T>(words.data())) fail_dead_engine();
    return words;
  }
  static void put(T& value, const type& words) {
    try_put(value, words);
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
  }
  static void try_put(const T&, const type& words) {
    if (!detail::can_draw<T>(words.data())) fail_random();
  }
};

/// errc::mismatch: a bitset of `size` bits cannot take `stored` bits.
void check_bits(std::size_t size, std::size_t stored);

template <class T>
requires(category_of<T>() == category::bits)
struct copy_traits<T> {
  using type = bool_array;
  static type take(const T& value) {
    bool_array bools;
    bools.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) bools.data()[i] = value[i];
    return bools;
  }
  static void put(T& value, bool_array& stored) {
    if constexpr (requires { value.resize(1); }) value.resize(stored.size());
    check_bits(value.size(), stored.size());
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = stored.data()[i];
  }
};

template <class T>
requires(has_copy_adapter<T>)
struct copy_traits<T> {
  using type = std::remove_cvref_t<decltype(adapter<T>::get(std::declval<const T&>()))>;
  static type take(const T& value) { return adapter<T>::get(value); }
  static void put(T& value, type& stored) { adapter<T>::set(value, std::move(stored)); }
};

}  // namespace cairn::inline v0_1::detail
