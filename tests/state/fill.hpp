// SPDX-License-Identifier: MIT
// Fills objects of any type: with distinct values and two elements per container, or at random.
#pragma once

#include "cairn/state/category.hpp"
#include "cairn/state/flat.hpp"
#include "standard.hpp"

namespace tests {

/// Without `random`, holders are filled, variants hold their last alternative, and containers have two elements.
template <class T>
void fill(T& object, std::mt19937* random = nullptr) {
  using cairn::detail::category;
  constexpr auto kind = cairn::detail::category_of<T>();
  static std::int8_t number = 0;
  const auto choose = [&](std::size_t count) { return random ? (*random)() % count : count - 1; };  // below `count`
  if constexpr (kind == category::scalar) {
    object = static_cast<T>(number = static_cast<std::int8_t>((number + 1) % 100));
  } else if constexpr (cairn::detail::text<T>) {
    int digits = 0;
    fill(digits);
    object = T("text ") + T(std::to_string(digits).c_str());
  } else if constexpr (kind == category::per_rank) {
    fill(object.value, random);
  } else if constexpr (kind == category::sequence) {
    object.resize(choose(3));
    for (auto& each : object) fill(each, random);
  } else if constexpr (kind == category::map) {
    object.clear();
    for (auto left = choose(3); left > 0; --left) {
      typename T::key_type key{};
      typename T::mapped_type value{};
      fill(key);
      fill(value, random);
      object.emplace(std::move(key), std::move(value));
    }
  } else if constexpr (kind == category::set) {
    typename T::value_type value{};
    fill(value, random);
    object.insert(std::move(value));
  } else if constexpr (kind == category::container_adaptor) {
    typename T::value_type value{};
    fill(value, random);
    object.push(std::move(value));
  } else if constexpr (kind == category::optional) {
    object.reset();
    if (choose(2) == 1) fill(object.emplace(), random);
  } else if constexpr (kind == category::variant) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto index = choose(sizeof...(I));
      ((I == index ? fill(object.template emplace<I>(), random) : void()), ...);
    }(std::make_index_sequence<std::variant_size_v<T>>{});
  } else {
    static_assert(kind == category::unique_pointer || kind == category::shared_pointer);
    object.reset();
    if (choose(2) == 0) return;
    object = T(new typename T::element_type());
    fill(*object, random);
  }
}

}  // namespace tests
