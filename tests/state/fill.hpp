// Fills objects of any type with distinct values: two elements per container, the last alternative of a variant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "cairn/state/category.hpp"
#include "cairn/state/flat.hpp"

namespace tests {

template <class T>
void fill(T& object) {
  using cairn::detail::category;
  constexpr auto kind = cairn::detail::category_of<T>();
  static std::int8_t number = 0;
  if constexpr (kind == category::scalar) {
    object = static_cast<T>(number = static_cast<std::int8_t>((number + 1) % 100));
  } else if constexpr (cairn::detail::text<T>) {
    int digits = 0;
    fill(digits);
    object = T("text ") + T(std::to_string(digits).c_str());
  } else if constexpr (kind == category::per_rank) {
    fill(object.value);
  } else if constexpr (kind == category::sequence) {
    object.resize(2);
    for (auto& each : object) fill(each);
  } else if constexpr (kind == category::map) {
    for (int i = 0; i < 2; ++i) {
      typename T::key_type key{};
      typename T::mapped_type value{};
      fill(key);
      fill(value);
      object.emplace(std::move(key), std::move(value));
    }
  } else if constexpr (kind == category::set) {
    typename T::value_type value{};
    fill(value);
    object.insert(std::move(value));
  } else if constexpr (kind == category::container_adaptor) {
    typename T::value_type value{};
    fill(value);
    object.push(std::move(value));
  } else if constexpr (kind == category::optional) {
    fill(object.emplace());
  } else if constexpr (kind == category::variant) {
    fill(object.template emplace<std::variant_size_v<T> - 1>());
  } else {
    static_assert(kind == category::unique_pointer || kind == category::shared_pointer);
    object = T(new typename T::element_type());
    fill(*object);
  }
}

}  // namespace tests
