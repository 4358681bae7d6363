// SPDX-License-Identifier: MIT
// Gives an object of any type random values and sizes, the same ones with each compiler.
#pragma once

#include "cairn/state/category.hpp"
#include "cairn/state/flat.hpp"
#include "matrix/types.hpp"
#include "standard.hpp"

namespace matrix {

class random {
 public:
  explicit random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t number() { return engine_(); }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  std::string text() {
    std::string made(1 + below(5), 'a');
    for (char& each : made) each = static_cast<char>('a' + below(26));
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

template <class T>
void fill(random& from, T& object);

/// Numbers that a `signed char` can have, so that a float of 8 bits is the only type that cannot have them all.
template <class T>
T random_number(random& from) {
  if constexpr (std::is_same_v<T, bool>)
    return from.below(2) == 1;
  else if constexpr (std::is_enum_v<T>)
    return static_cast<T>(from.below(3));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(from.number());
  else
    return static_cast<T>(static_cast<float>(static_cast<std::int16_t>(from.number())) / 8);
}

template <class T>
void fill_polymorphic(random& from, T& pointer) {
  using content = typename T::element_type::content;
  if (from.below(2) == 0)
    pointer = T(new circle<content>());
  else
    pointer = T(new line<content>());
  pointer->fill([](content& value, void* random_) { matrix::fill(*static_cast<random*>(random_), value); }, &from);
}

template <class T>
void fill(random& from, T& object) {
  using cairn::detail::category;
  constexpr auto kind = cairn::detail::category_of<T>();
  if constexpr (requires { object.each([](auto&) {}); }) {
    object.each([&](auto& part) { matrix::fill(from, part); });
  } else if constexpr (kind == category::scalar || kind == category::wide_scalar) {
    object = random_number<T>(from);
  } else if constexpr (kind == category::complex) {
    object.real(random_number<typename T::value_type>(from));
    object.imag(random_number<typename T::value_type>(from));
  } else if constexpr (kind == category::duration) {
    if constexpr (requires { typename T::clock; })
      object = T(typename T::duration(random_number<typename T::rep>(from)));
    else
      object = T(random_number<typename T::rep>(from));
  } else if constexpr (cairn::detail::text<T> || kind == category::path) {
    object = from.text();
  } else if constexpr (kind == category::bits) {
    if constexpr (requires { object.resize(1); }) object.resize(from.below(5));
    for (std::size_t i = 0; i < object.size(); ++i) object[i] = from.below(2) == 1;
  } else if constexpr (kind == category::random) {
    if constexpr (requires { object.discard(1); }) {
      object.seed(static_cast<typename T::result_type>(from.below(1000)));
      object.discard(from.below(10));
    } else {
      const auto mean = random_number<float>(from);
      object = T(mean, random_number<float>(from) + 5000);
    }
  } else if constexpr (kind == category::tensor) {
    object.resize({from.below(3), 3});
    for (std::size_t i = 0; i < 3 * object.shape()[0]; ++i) fill(from, object.data()[i]);
  } else if constexpr (std::is_same_v<T, grid>) {
    object.values().resize(2 * from.below(3));
    for (auto& value : object.values()) fill(from, value);
  } else if constexpr (kind == category::fixed_array) {
    for (auto& each : object) fill(from, each);
  } else if constexpr (kind == category::tuple) {
    std::apply([&](auto&... each) { (fill(from, each), ...); }, object);
  } else if constexpr (kind == category::per_rank || kind == category::skipped) {
    fill(from, object.value);
  } else if constexpr (kind == category::sequence || kind == category::valarray) {
    object = T(from.below(4));
    for (auto& each : object) fill(from, each);
  } else if constexpr (kind == category::map) {
    object.clear();
    for (auto left = from.below(4); left > 0; --left) {
      typename T::key_type key{};
      fill(from, key);
      const auto at =
          object.emplace(std::piecewise_construct, std::forward_as_tuple(std::move(key)), std::forward_as_tuple());
      if constexpr (requires { at->second; })
        fill(from, at->second);
      else
        fill(from, at.first->second);
    }
  } else if constexpr (kind == category::set) {
    object.clear();
    for (auto left = from.below(4); left > 0; --left) {
      typename T::value_type value{};
      fill(from, value);
      object.insert(std::move(value));
    }
  } else if constexpr (kind == category::container_adaptor) {
    object = T();
    for (auto left = from.below(4); left > 0; --left) {
      if constexpr (requires { requires std::is_same_v<decltype(object.top()), typename T::value_type&>; }) {
        object.emplace();
        fill(from, object.top());
      } else if constexpr (requires { object.back(); }) {
        object.emplace();
        fill(from, object.back());
      } else {
        typename T::value_type value{};
        fill(from, value);
        object.push(std::move(value));
      }
    }
  } else if constexpr (kind == category::optional) {
    object.reset();
    if (from.below(4) > 0) fill(from, object.emplace());
  } else if constexpr (kind == category::variant) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto index = from.below(sizeof...(I) + 2) % sizeof...(I);
      ((I == index ? fill(from, object.template emplace<I>()) : void()), ...);
    }(std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (kind == category::unique_pointer || kind == category::shared_pointer) {
    object.reset();
    if (from.below(4) == 0) return;
    using element = std::remove_const_t<typename T::element_type>;
    if constexpr (requires { typename element::content; }) {
      fill_polymorphic(from, object);
    } else {
      auto* const made = new element();
      object = T(made);
      fill(from, *made);
    }
  } else {
    static_assert(kind == category::atomic);
    typename T::value_type value{};
    fill(from, value);
    object.store(value);
  }
}

}  // namespace matrix
